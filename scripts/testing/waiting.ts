/** Waiting for what other processes do. */

/** Asks every 50 ms until it is so. @throws {Error} with `what` and the time, and what `log` returns if it is given */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean>,
  { seconds = 20, log }: { readonly seconds?: number; readonly log?: string } = {},
): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !await isSo();) {
    if (Date.now() > end) {
      const text = log === undefined ? "" : `: ${await Deno.readTextFile(log).catch(() => "no log")}`;
      throw new Error(`${what}: not within ${seconds} s${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until a program listens. */
export async function waitForListener(
  port: number,
  { hostname = "127.0.0.1", log }: { readonly hostname?: string; readonly log?: string } = {},
): Promise<void> {
  const listens = (): Promise<boolean> =>
    Deno.connect({ hostname, port }).then((connection) => (connection.close(), true), () => false);
  await waitUntil(`something listens on ${port}`, listens, log === undefined ? {} : { log });
}

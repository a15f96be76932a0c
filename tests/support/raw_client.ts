/** A client that sends exactly the given bytes over plain TCP. */

/** The header of a request without its end. */
export const HALF_HEADER = "GET / HTTP/1.1\r\nHost: x\r\nx-part:";

/** Longer than any listener under test may take. */
const PATIENCE_MS = 30_000;

/** A connection. */
export interface RawClient {
  /** Has no effect if the connection is closed. */
  send(text: string): Promise<void>;
  /** The next bytes, or "" if the connection is closed. Rejects if neither happens for a long time. */
  read(): Promise<string>;
  close(): void;
}

/** Connects to a port of this computer and sends a text. */
export async function connectRaw(port: number, text = ""): Promise<RawClient> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let open = true;
  const client: RawClient = {
    async send(more) {
      await connection.write(new TextEncoder().encode(more)).catch(() => {});
    },
    async read() {
      const bytes = new Uint8Array(4096);
      const reading = connection.read(bytes).catch(() => null); // a reset is an end, too
      const size = await within(reading, "neither bytes nor an end came");
      return new TextDecoder().decode(bytes.subarray(0, size ?? 0));
    },
    close() {
      if (open) connection.close();
      open = false;
    },
  };
  if (text !== "") await client.send(text);
  return client;
}

/** Resolves when something is so. Rejects if that takes too long. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  let stopped = false;
  const looking = (async () => {
    while (!stopped && !await isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
  })();
  await within(looking, `not so: ${isSo}`).finally(() => stopped = true);
}

async function within<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${otherwise} within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

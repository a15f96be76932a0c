/** Ends with 0 if the process of this container answers on one of its ports, without a shell and without curl. */
const PORTS = ["PORT", "OPERATIONS_PORT", "DIRECTORY_PORT"];

const ports = PORTS.flatMap((name) => Deno.env.get(name) ?? []);
const answers = await Promise.allSettled(ports.map(async (port) => {
  const { ok } = await fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(2000) });
  if (!ok) throw new Error("not live");
}));
Deno.exit(answers.some(({ status }) => status === "fulfilled") ? 0 : 1);

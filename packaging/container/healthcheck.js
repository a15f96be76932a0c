/**
 * Ends with 0 if the process of this container answers on one of its ports, without a shell and without curl. The paths
 * read no database: one that is slow must not restart every process.
 */
const PATHS = { PORT: "/health/live", PLATFORM_OPERATIONS_PORT: "/health/live", DIRECTORY_PORT: "/ca.pem" };

const answers = await Promise.allSettled(
  Object.entries(PATHS).flatMap(([name, path]) => {
    const port = Deno.env.get(name);
    return port === undefined ? [] : [ask(`http://127.0.0.1:${port}${path}`)];
  }),
);
Deno.exit(answers.some(({ status }) => status === "fulfilled") ? 0 : 1);

async function ask(url) {
  const { ok } = await fetch(url, { signal: AbortSignal.timeout(2000) });
  if (!ok) throw new Error("not live");
}

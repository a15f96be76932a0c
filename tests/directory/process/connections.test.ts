/** `deno task directory` and clients that open many connections or never finish, with an output that takes no lines. */
import { assertEquals, assertMatch } from "@std/assert";
import { openDirectoryFixture } from "support/directory_process.ts";
import { connectRaw, HALF_HEADER, until } from "support/raw_client.ts";

const FEW_FILES_FULL_LOG = 'ulimit -n 256; exec "$@" >/dev/full 2>/dev/full';

Deno.test("directory answers on both listeners while 500 connections are opened to it, and stops with 0", async () => {
  await using fixture = await openDirectoryFixture();
  const process = await fixture.start({ DIRECTORY_MAX_CONNECTIONS: "50" }, FEW_FILES_FULL_LOG);
  const [port, adminPort] = [fixture.url, fixture.adminUrl].map((url) => Number(new URL(url).port));
  await until(async () => await statusOf(`${fixture.adminUrl}/health`) === 200);
  const clients = [];
  for (let count = 0; count < 500; count++) clients.push(await connectRaw(port ?? 0, HALF_HEADER));
  assertEquals(await Promise.all([`${fixture.url}/jwks`, `${fixture.adminUrl}/health`].map(statusOf)), [
    200,
    200,
  ]);
  const head = `POST /participants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fixture.token}\r\n`;
  const body = "Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n{";
  const unfinished = await connectRaw(adminPort ?? 0, head + body);
  clients.push(unfinished);
  assertMatch(await unfinished.read(), /^HTTP\/1\.1 100 Continue/);
  process.kill("SIGTERM");
  assertMatch(await unfinished.read(), /^HTTP\/1\.1 400 /);
  assertEquals(await process.exited, 0);
  for (const client of clients) client.close();
});

Deno.test("directory does not start if its connections could need more files than it may open", async () => {
  await using fixture = await openDirectoryFixture();
  const process = await fixture.start({}, 'ulimit -n 256; exec "$@"');
  await process.ready.catch(() => {});
  process.kill("SIGTERM"); // if it runs
  const { code, stderr } = await process.ended;
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^ {2}- DIRECTORY_MAX_CONNECTIONS: needs 900 more open files, and the limit leaves 2\d\d;/m,
  );
});

/** The status of the answer, or why there is none. */
async function statusOf(url: string): Promise<number | string> {
  try {
    const answer = await fetch(url);
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    return String(error);
  }
}

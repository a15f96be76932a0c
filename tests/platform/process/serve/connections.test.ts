/** `deno task serve` and clients that open many connections, send slowly, or never finish, as its proxy would not. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Readiness } from "testing/answers.ts";
import { AUTH_URL, PROXY_SECRET } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openFixture, openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { connectRaw, HALF_HEADER, type RawClient } from "support/raw_client.ts";
import { inShell, startPlatform } from "testing/served_platform.ts";

const FEW_FILES = inShell('ulimit -n 256; exec "$@"');
/** Four times the files that the process may open. */
const FLOOD = 1000;

Deno.test("serve takes a payment while 1,000 connections are opened to it and it may open 256 files", async () => {
  await using env = await openServedEnvironment({ PLATFORM_MAX_CONNECTIONS: "32" }, undefined, FEW_FILES);
  const clients: RawClient[] = [];
  try {
    for (let count = 0; count < FLOOD; count++) clients.push(await connectRaw(portOf(env), HALF_HEADER));
    await good(pay(env, await authorised(env)), 201);
    assert(await connections(env) <= 32);
    for (const client of clients) assertEquals(await client.read(), ""); // also the last ones: 5 s for a header
  } finally {
    for (const client of clients) client.close();
  }
  env.process.kill("SIGTERM");
  assertEquals(await env.process.ended, { code: 0, stderr: "" });
});

Deno.test("serve does not start if its connections could need more files than it may open", async () => {
  await using fixture = await openFixture();
  const process = await startPlatform(fixture.folder, fixture.env, {}, FEW_FILES);
  await process.ready.catch(() => {});
  process.kill("SIGTERM"); // if it runs
  const { code, stderr } = await process.ended;
  assertEquals([code, process.lines.length], [1, 0]);
  assertMatch(
    stderr,
    /^ {2}- PLATFORM_MAX_CONNECTIONS: needs 932 more open files, and the limit leaves 2\d\d; raise the/m,
  );
});

Deno.test("serve stops with 0 while the rest of a body does not arrive, and rejects that request", async () => {
  await using env = await openServedEnvironment();
  const clients = [
    await connectRaw(portOf(env), unfinishedRegistration(env)),
    await connectRaw(portOf(env), HALF_HEADER),
  ];
  assertMatch(await clients[0]?.read() ?? "", /^HTTP\/1\.1 100 Continue/);
  env.process.kill("SIGTERM");
  assertMatch(await clients[0]?.read() ?? "", /^HTTP\/1\.1 400 /);
  assertEquals(await env.process.ended, { code: 0, stderr: "" });
  const rejected = env.process.lines.filter(({ event }) => event === "request.rejected");
  assertEquals(rejected.map(({ reason }) => reason), ["request.incomplete"]);
  assert(!env.process.lines.some(({ event }) => event === "platform.stopped_late"));
  for (const client of clients) client.close();
});

/** The platform answers `Expect` when it reads the body. */
function unfinishedRegistration({ tpp }: ServedEnvironment): string {
  const head = [
    "POST /register/v1 HTTP/1.1",
    "Host: api",
    "Content-Type: application/jose",
    "Content-Length: 1000",
    "Expect: 100-continue",
    `x-proxy-secret: ${PROXY_SECRET}`,
    `Client-Cert: :${tpp.transport.certificate}:`,
  ];
  return `${head.join("\r\n")}\r\n\r\neyJ`;
}

function portOf({ fixture }: ServedEnvironment): number {
  return Number(fixture.env["PORT"]);
}

async function connections(env: ServedEnvironment): Promise<number> {
  const { parts } = await good<Readiness>(env.browser(new Request(`${AUTH_URL}/health/ready`)), 200);
  return Number(/^\d+/.exec(parts["connections"]?.detail ?? "")?.[0]);
}

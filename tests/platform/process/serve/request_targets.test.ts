/** Odd Host headers and request targets, byte for byte, straight at `deno task serve`: structured answers, no stack trace. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { OAuthError } from "testing/answers.ts";
import { isOnOtherRuntime } from "testing/other_runtime.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { operatorsFile } from "testing/operators.ts";
import { stepsOf } from "support/steps.ts";

/** Request lines and Host headers that make no URL. */
const MALFORMED: readonly (readonly [what: string, head: string])[] = [
  ["a Host that is no host", "GET /jwks HTTP/1.1\r\nHost: ]bad["],
  ["a Host with a bad port", "GET /jwks HTTP/1.1\r\nHost: auth.platform.example:99999"],
  ["a Host with a space", "GET /jwks HTTP/1.1\r\nHost: auth platform"],
  ["a Host with a user name", "GET /jwks HTTP/1.1\r\nHost: user@[::1"],
  ["a Host of an API path", "POST /BANKA/token.oauth2/v1 HTTP/1.1\r\nHost: ]bad[\r\nContent-Length: 0"],
  ["an absolute target with a bad port", "GET http://evil.com:99999/jwks HTTP/1.1\r\nHost: auth"],
  ["an absolute target with a bad host", "GET http://]bad[/jwks HTTP/1.1\r\nHost: auth"],
];

Deno.test("serve answers a Host or a target that makes no URL with a structured 400 and keeps its stack to itself", async (t) => {
  const [port, operators] = [freePort(), await Deno.makeTempFile()];
  await Deno.writeTextFile(operators, await operatorsFile(), { mode: 0o600 });
  await using env = await openServedEnvironment({
    PLATFORM_OPERATIONS_PORT: String(port),
    PLATFORM_OPERATORS: operators,
  });
  assertEquals((await send(env, "GET /console HTTP/1.1\r\nHost: ]bad[", port)).status, 400);
  await stepsOf(t, MALFORMED, ([what]) => what, async ([, head]) => {
    const { status, headers, body } = await send(env, head);
    assertEquals(status, 400, body);
    if (body === "") return; // rejected by the HTTP parser, before the platform
    assertEquals(JSON.parse(body), {
      error: "invalid_request",
      error_description: "The Host header or the request target is malformed.",
    });
    assertEquals([headers.get("content-type"), headers.get("cache-control")], [
      "application/json",
      "no-store",
    ]);
    assertMatch(headers.get("x-fapi-interaction-id") ?? "", /^[0-9a-f-]{36}$/);
  });
  assertEquals((await send(env, "GET /jwks HTTP/1.1\r\nHost: whatever.example")).status, 200);
  // HAProxy probes without a Host.
  if (isOnOtherRuntime) assertEquals((await send(env, "GET /health/serving HTTP/1.0")).status, 200);
  assertEquals((await send(env, "GET http://evil.example/jwks HTTP/1.1\r\nHost: x")).status, 200);
  env.process.kill("SIGTERM");
  assertEquals(await env.process.ended, { code: 0, stderr: "" });
  const rejected = env.process.lines.filter(({ reason }) => reason === "request.malformed_target");
  assert(rejected.length > 0);
  assertEquals(env.process.lines.filter(({ level }) => level === "error"), []);
  await Deno.remove(operators);
});

Deno.test("serve takes no percent-encoded letter for the letter in a fixed part of a path", async (t) => {
  await using env = await openServedEnvironment();
  const paths = [
    "/%68ealth/ready",
    "/healt%68/live",
    "/%6Fperations/payment-orders",
    "/operations%2Fpayment-orders",
    "/%6a%77%6b%73",
    "/BANKA/%61uthorization.oauth2",
    "/register%2Fv1",
    "/x/../health/ready",
    "/%2e/health/ready",
    "/x/%2e%2e/health/ready",
    "//health/ready",
    "/\\health/ready",
  ];
  await stepsOf(t, paths, (path) => path, async (path) => {
    const { status, body } = await send(env, `GET ${path} HTTP/1.1\r\nHost: auth.platform.example`);
    const isRejected = isOnOtherRuntime && /\/\.|\\|%2e/.test(path); // its Request cannot have such a path
    assertEquals(
      [status, (JSON.parse(body) as OAuthError).error],
      isRejected ? [400, "invalid_request"] : [404, "not_found"],
    );
  });
  const token = "/BANKA/%74oken.oauth2/v1";
  const { status, body } = await send(env, `POST ${token} HTTP/1.1\r\nHost: api\r\nContent-Length: 0`);
  assertEquals([status, (JSON.parse(body) as OAuthError).error], [404, "not_found"]);
});

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

async function send(
  env: ServedEnvironment,
  head: string,
  port: number = Number(env.fixture.env["PORT"]),
): Promise<RawAnswer> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(`${head}\r\nConnection: close\r\n\r\n`));
  const text = await new Response(connection.readable).text();
  const [top = "", body = ""] = text.split("\r\n\r\n", 2);
  const [line = "", ...fields] = top.split("\r\n");
  const headers = new Headers(
    fields.map((field): [string, string] => [field.split(": ", 1)[0] ?? "", field.replace(/^[^:]*: /, "")]),
  );
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]), headers, body };
}

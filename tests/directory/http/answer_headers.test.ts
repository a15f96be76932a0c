import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { ISSUER, openDirectoryEnvironment, signingRequest } from "testing/directory_environment.ts";
import { openListener } from "../../../src/base/http/deno_listener.ts";
import { openLog } from "../../../src/base/observability/log.ts";
import { onboarded } from "../changes/onboarded.ts";

const CACHED: readonly [path: string, cacheControl: string][] = [
  ["/participants", "public, max-age=60"],
  ["/participants/SHOP/jwks", "public, no-cache"], // no cache on the way may make a revocation late
  ["/participants/SHOP/jwks/revoked", "public, no-cache"],
  ["/jwks", "public, max-age=60"],
  ["/ca.pem", "public, max-age=60"],
];

for (const [path, cacheControl] of CACHED) {
  Deno.test(`GET ${path} may be cached (${cacheControl}) and revalidated [E2]`, async () => {
    await using env = await onboarded();
    const { status, headers } = await env.get(path);
    const tag = headers.get("etag") ?? "";
    assertEquals([status, headers.get("cache-control")], [200, cacheControl]);
    assertMatch(tag, /^"[A-Za-z0-9_-]{43}"$/);
    for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const again = await env.get(path, { "if-none-match": condition });
      assertEquals([again.status, again.body, again.headers.get("etag")], [304, "", tag], condition);
    }
    assertEquals((await env.get(path, { "if-none-match": '"other"' })).status, 200);
    const head = await env.fetch(new Request(`${ISSUER}${path}`, { method: "HEAD" }));
    assertEquals([head.status, head.headers.get("etag"), await head.text()], [200, tag, ""]);
  });
}

Deno.test("GET jwks has another ETag when a key is revoked [E2]", async () => {
  await using env = await onboarded();
  const before = await env.get("/participants/SHOP/jwks");
  await env.admin("POST", `/participants/SHOP/keys/${before.body.keys[0]?.kid}/revoke`, { reason: "test" });
  const tag = before.headers.get("etag") ?? "";
  assertEquals((await env.get("/participants/SHOP/jwks", { "if-none-match": tag })).status, 200);
});

const METHODS: readonly [method: string, path: string, allow: string][] = [
  ["DELETE", "/participants", "GET, HEAD, POST"],
  ["PUT", "/participants", "GET, HEAD, POST"],
  ["DELETE", "/participants/SHOP", "GET, HEAD"],
  ["POST", "/participants/SHOP/jwks", "GET, HEAD"],
  ["PATCH", "/participants/SHOP/jwks/revoked", "GET, HEAD"],
  ["DELETE", "/participants/SHOP/history", "GET, HEAD"],
  ["DELETE", "/participants/SHOP/statement", "GET, HEAD, POST"],
  ["POST", "/status", "GET, HEAD"],
  ["GET", "/participants/SHOP/certificates", "POST"],
  ["DELETE", "/participants/SHOP/keys/abc/revoke", "POST"],
  ["POST", "/participants/SHOP/software/status", "PUT"],
  ["POST", "/participants/SHOP/status", "PUT"],
  ["POST", "/jwks", "GET, HEAD"],
  ["POST", "/ca.pem", "GET, HEAD"],
];

for (const [method, path, allow] of METHODS) {
  Deno.test(`${method} ${path} answers 405 and what is allowed [E2][E3]`, async () => {
    await using env = await onboarded();
    const answer = await env.fetch(new Request(`${ISSUER}${path}`, { method }));
    assertEquals([answer.status, answer.headers.get("allow")], [405, allow]);
    assertEquals((await rejectionOf(answer)).error, "invalid_request");
  });
}

Deno.test("unknown paths and participants answer 404 in JSON [E2][E3]", async () => {
  await using env = await onboarded();
  for (
    const path of [
      "/nothing",
      "/participants/",
      "/participants/NOBODY/jwks",
      "/participants/shop/jwks",
      "/participants/%ff/jwks",
      "/participants/a%2fb/jwks",
      `/participants/${"x".repeat(5000)}/jwks/revoked`,
    ]
  ) {
    const { status, headers, body } = await env.get(path);
    assertEquals([status, body.error, headers.get("cache-control")], [404, "not_found", "no-store"], path);
  }
  const csrs = { signing: await signingRequest(2) };
  const bodies: readonly [method: string, path: string, body?: unknown][] = [
    ["GET", ""],
    ["GET", "/history"],
    ["POST", "/statement"],
    ["POST", "/certificates", { csrs }],
    ["POST", `/keys/${"A".repeat(27)}/revoke`, { reason: "test" }],
    ["PUT", "/software/status", { status: "Active", reason: "test" }],
    ["PUT", "/status", { status: "Active", reason: "test" }],
  ];
  for (const [method, path, body] of bodies) {
    const answer = await env.admin(method, `/participants/NOBODY${path}`, body);
    assertEquals([answer.status, answer.body.error], [404, "not_found"], path);
  }
});

Deno.test("every answer has an id and keeps browsers from guessing [E2]", async () => {
  await using env = await onboarded();
  for (const path of ["/participants", "/jwks", "/nothing", "/participants/SHOP"]) {
    const { headers } = await env.get(path);
    assertMatch(headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertEquals(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
  }
});

Deno.test("a broken store is a 500 without words; the log has the cause under the request's id [E2]", async () => {
  const lines: string[] = [];
  const note = (event: string, fields = {}): void => void lines.push(`${event} ${JSON.stringify(fields)}`);
  await using env = await openDirectoryEnvironment({ log: { info: note, warn: note, error: note } });
  env.store.list = (): never => {
    throw new TypeError("the disk is on fire");
  };
  const { status, headers, body } = await env.get("/participants");
  assertEquals(status, 500);
  assertEquals(body, { error: "server_error", error_description: "Something went wrong here." });
  const failed = lines.find((line) => line.startsWith("directory.failed")) ?? "";
  assertStringIncludes(failed, "the disk is on fire");
  assertStringIncludes(failed, headers.get("x-request-id") ?? "?");
});

Deno.test("a Host or a target that makes no URL is answered 400 by both listeners (RFC 9112 §3.2)", async () => {
  await using env = await openDirectoryEnvironment();
  const unexpected = (): never => {
    throw new Error("no answer of the directory");
  };
  const log = openLog({ clock: () => 0, sink: unexpected, level: "error" });
  const heads = ["/console HTTP/1.1\r\nhost: ]bad[", "http://evil.example:99999/jwks HTTP/1.1\r\nhost: x"];
  for (const handle of [env.fetch, env.adminFetch]) {
    const listener = openListener({
      hostname: "127.0.0.1",
      port: 0,
      maxConnections: 10,
      log,
      handle: (request) => handle(request),
      onError: unexpected,
      onStopping: unexpected,
    });
    for (const head of heads) {
      const connection = await Deno.connect(listener.addr);
      await connection.write(new TextEncoder().encode(`GET ${head}\r\nconnection: close\r\n\r\n`));
      assertMatch(await new Response(connection.readable).text(), /^HTTP\/1\.1 400 /);
    }
    await listener.stop();
  }
});

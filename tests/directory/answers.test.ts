/** The directory as an HTTP server: who may ask what, how public answers are cached, and how it says no. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  type DirectoryEnvironment,
  ISSUER,
  openDirectoryEnvironment,
  signingRequest,
  testAuthority,
  thirdParty,
} from "testing/directory_environment.ts";

Deno.test("GET /participants lists what everybody may know, and no more [E2]", async () => {
  await using env = await onboarded();
  const { headers, body } = await env.get("/participants");
  const record = (await env.admin("GET", "/participants/SHOP")).body;
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("vary"), "Accept");
  assertEquals(body, [{
    org_id: "SHOP",
    org_name: "Shop Limited",
    role: "PISP",
    org_status: "Active",
    software_client_id: record.software_client_id,
    software_client_status: "Active",
    since: "2026-02-01T10:00:00.000Z",
  }]);
});

Deno.test("GET /participants lists more than one page of the store [E2]", async () => {
  await using env = await onboarded();
  const { value } = await env.store.get<object>(["directory", "participant", "shop"]).then((entry) =>
    entry ?? { value: {} }
  );
  for (let count = 0; count < 205; count++) {
    const orgId = `ORG-${String(count).padStart(3, "0")}`;
    const write = {
      kind: "set",
      key: ["directory", "participant", orgId.toLowerCase()],
      value: { ...value, orgId },
    } as const;
    await env.store.commit({ checks: [], writes: [write] });
  }
  const { body } = await env.get("/participants");
  assertEquals(new Set(body.map(({ org_id }: { org_id: string }) => org_id)).size, 206);
});

Deno.test("GET /participants draws a page for browsers, with names as text and its style allowed by hash [E2] [W2]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin(
    "POST",
    "/participants",
    await thirdParty([0, 1], { org_name: "<script>alert(1)</script>" }),
  );
  const { headers, body } = await env.get("/participants", {
    accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  });
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  const style = /<style>([\s\S]*?)<\/style>/.exec(body)?.[1] ?? "";
  assertStringIncludes(style, "color-scheme");
  assertMatch(
    headers.get("content-security-policy") ?? "",
    new RegExp(`^default-src 'none'; style-src 'sha256-${RegExp.escape(await hashOf(style))}';`),
  );
  assertStringIncludes(body, '<!doctype html><html lang="en">');
  assertStringIncludes(body, "&lt;script&gt;alert(1)&lt;/script&gt;");
  assert(!body.includes("<script"));
  assertStringIncludes(body, '<th scope="col">Organisation</th>');
});

Deno.test("GET /participants/{org_id} shows administrators the full record [E3]", async () => {
  await using env = await onboarded();
  const { headers, body } = await env.admin("GET", "/participants/SHOP");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(body.registration_number, "900123456-7");
  assertEquals(body.contacts[1], {
    type: "technical",
    name: "Luis Gómez",
    email: "luis@shop.example",
    phone: "+57 601 555 0101",
  });
  assertEquals(body.software.redirect_uris, [
    "https://shop.example/callback",
    "http://localhost:8444/callback",
  ]);
  assertEquals(
    body.keys.map(({ use, status }: { use: string; status: string }) => `${use} ${status}`).sort(),
    ["sig Active", "tls Active"],
  );
  assert(!("payment_orders_uri" in body));
});

Deno.test("GET / leads to the participants, GET /health to the store [E2]", async () => {
  await using env = await openDirectoryEnvironment();
  const home = await env.get("/");
  assertEquals([home.status, home.headers.get("location")], [303, "/participants"]);
  assertEquals((await env.get("/health")).body, { status: "ok" });
});

Deno.test("GET /ca.pem is the authority's certificate [E2]", async () => {
  await using env = await openDirectoryEnvironment();
  const { status, body } = await env.get("/ca.pem");
  assertEquals([status, body.trim()], [200, (await testAuthority()).certificatePem.trim()]);
});

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
  await env.admin("POST", `/participants/SHOP/keys/${before.body.keys[0].kid}/revoke`, { reason: "test" });
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
    assertEquals((await answer.json()).error, "invalid_request");
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

async function onboarded(): Promise<DirectoryEnvironment> {
  const env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  return env;
}

async function hashOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toBase64();
}

import { assertEquals, assertNotEquals } from "@std/assert";
import { rejectionOf, type ServerMetadata } from "testing/answers.ts";
import { good } from "testing/flows.ts";
import { assertBrowserHeaders, assertNothingChanges, BROWSER_HEADERS } from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";

const METADATA = "/.well-known/oauth-authorization-server/BANKA";

const AUTH = "https://auth.platform.example";

const API = "https://api.platform.example";

const CACHED = { ...BROWSER_HEADERS, "cache-control": "public, max-age=300" };

Deno.test("GET metadata says exactly what this profile is, for each bank [MD1] [MD2] [MD3] [MD4] [MD5] [MD10] [A1] [FAPI-D1] [FAPI-G3]", async (t) => {
  await using env = await openEnvironment();
  await stepsOf(t, ["BANKA", "BANKB"], (bank) => bank, async (bank) => {
    const answer = await open(env, `/.well-known/oauth-authorization-server/${bank}`);
    assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
    assertBrowserHeaders(answer, CACHED);
    assertEquals(await answer.json(), {
      issuer: `${AUTH}/${bank}`,
      authorization_endpoint: `${AUTH}/${bank}/authorization.oauth2`,
      token_endpoint: `${API}/${bank}/token.oauth2/v1`,
      pushed_authorization_request_endpoint: `${API}/${bank}/par.oauth2/v1`,
      require_pushed_authorization_requests: true,
      registration_endpoint: `${API}/register/v1`,
      jwks_uri: `${AUTH}/jwks`,
      scopes_supported: ["payments"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "client_credentials"],
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
      token_endpoint_auth_signing_alg_values_supported: ["PS256"],
      code_challenge_methods_supported: ["S256"],
      dpop_signing_alg_values_supported: ["PS256"],
      authorization_response_iss_parameter_supported: true,
      ui_locales_supported: ["en", "es", "fr", "ar"],
      service_documentation: `${AUTH}/docs`,
    });
  });
});

Deno.test("GET metadata: the issuer is the one that the URL was built from, between host and path [MD1] [MD2]", async () => {
  await using env = await openEnvironment();
  const { issuer } = await good<ServerMetadata>(open(env, METADATA), 200);
  const { origin, pathname, search, hash } = new URL(issuer);
  assertEquals([issuer, `${origin}${pathname}`, search, hash], [`${AUTH}/BANKA`, issuer, "", ""]);
  assertEquals(`${origin}/.well-known/oauth-authorization-server${pathname}`, `${AUTH}${METADATA}`);
});

Deno.test("GET metadata: every endpoint is an absolute https URL that answers [MD5] [MD-N7]", async () => {
  await using env = await openEnvironment();
  const metadata = await good<ServerMetadata>(open(env, METADATA), 200);
  const named = Object.entries(metadata).filter(([, value]) => String(value).startsWith("https:"));
  assertEquals(named.length, 7);
  for (const [name, value] of named) {
    const url = new URL(String(value));
    assertEquals([url.href, url.protocol, url.hash], [value, "https:", ""], name);
    if (name === "issuer") continue;
    const send = url.origin === API ? env.api : env.browser;
    const { status } = await send(new Request(url, { method: url.origin === API ? "POST" : "GET" }));
    assertNotEquals(status, 404, name);
  }
});

Deno.test("GET metadata of what is no bank's issuer: 404, no default issuer [MD-N1] [MD-N2] [MD-N8] [A4]", async (t) => {
  await using env = await openEnvironment();
  const paths = {
    "[MD-N1] unknown bank": "/.well-known/oauth-authorization-server/BANKC",
    "[MD-N1] lower case": "/.well-known/oauth-authorization-server/banka",
    "[MD-N1] a TPP": `/.well-known/oauth-authorization-server/${env.tpp.orgId}`,
    "[MD-N1] no bank": "/.well-known/oauth-authorization-server",
    "[MD-N1] an empty bank": "/.well-known/oauth-authorization-server/",
    "[MD-N1] a slash behind": `${METADATA}/`,
    "[MD-N1] 3,000 characters": `/.well-known/oauth-authorization-server/${"A".repeat(3000)}`,
    "[MD-N1] an encoded path": "/.well-known/oauth-authorization-server/BANKA%2F..%2FBANKB",
    "[MD-N2] appended": "/BANKA/.well-known/oauth-authorization-server",
    "[MD-N8] OpenID configuration": "/.well-known/openid-configuration",
    "[MD-N8] OpenID configuration of a bank": "/BANKA/.well-known/openid-configuration",
    "[MD-N8] inserted": "/.well-known/openid-configuration/BANKA",
    "[MD9] no protected resource metadata here": "/.well-known/oauth-protected-resource/BANKA",
    "[MD10] no introspection": "/BANKA/introspect",
    "[MD10] no revocation": "/BANKA/revoke",
    "[MD10] no userinfo": "/BANKA/userinfo",
  };
  await steps(t, paths, async (path) => {
    const answer = await open(env, path);
    assertEquals([answer.status, answer.headers.get("content-type")], [404, "application/json"]);
    assertBrowserHeaders(answer);
    const body = await rejectionOf(answer);
    assertEquals([Object.keys(body), body.error], [["error", "error_description"], "not_found"]);
  });
});

Deno.test("Metadata and keys have no other methods than GET and HEAD [MD-N3]", async (t) => {
  await using env = await openEnvironment();
  for (const path of [METADATA, "/jwks"]) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      await t.step(`${method} ${path}`, async () => {
        const answer = await assertNothingChanges(env, () => open(env, path, { method }));
        assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"]);
        assertBrowserHeaders(answer);
        await answer.body?.cancel();
      });
    }
  }
});

Deno.test("Metadata and keys come from configuration, whatever Host says, and need no certificate [MD-N4] [A6] [A7]", async () => {
  await using env = await openEnvironment();
  for (const path of [METADATA, "/jwks"]) {
    const expected = await (await open(env, path)).text();
    const evil = new Request(`https://evil.example${path}?issuer=https://evil.example`, {
      headers: {
        host: "evil.example",
        forwarded: "host=evil.example;proto=http",
        "x-forwarded-host": "evil.example",
        "x-forwarded-prefix": "/evil",
        "client-cert": ":AAAA:",
      },
    });
    const answer = await env.browser(evil);
    assertEquals([answer.status, await answer.text()], [200, expected]);
  }
});

function open(env: Environment, path: string, init: RequestInit = {}): Promise<Response> {
  return env.browser(new Request(`${AUTH}${path}`, init));
}

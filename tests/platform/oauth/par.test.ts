/** `POST /{BANK}/par.oauth2/v1`: what a pushed request must say, and the answer. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { authentication, dpopKey, good, push } from "testing/flows.ts";
import { authorise, authorize, Browser, toBank } from "testing/authorization_flow.ts";
import { dpopProof, sha256, thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import {
  acceptedEverywhere,
  assertApiError,
  assertRejected,
  awaitingConsent,
  type Case,
  type Deviation,
  type Expected,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { AUTH_URL, openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const INVALID_REQUEST = [400, "invalid_request"] as const;

Deno.test("POST par answers 201 with a request_uri for 599 seconds [PA11, PA15, FM2]", async () => {
  await using env = await openEnvironment();
  const consentId = await awaitingConsent(env);
  const response = await push(env, consentId);
  const body = await response.json();
  assertEquals([response.status, response.headers.get("content-type")], [201, "application/json"]);
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(Object.keys(body).sort(), ["expires_in", "request_uri"]);
  assertEquals(body.expires_in, 599);
  assertMatch(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
  assertNotEquals((await good(push(env, consentId), 201)).request_uri, body.request_uri);
});

Deno.test("POST par keeps the request, without credentials and by hash [PA12, PA13, FAPI-G21]", async () => {
  await using env = await openEnvironment();
  const consentId = await awaitingConsent(env);
  const key = await dpopKey();
  const form = { dpop_jkt: await thumbprint(key), foo: "bar" };
  const { request_uri } = await good(push(env, consentId, { form }), 201);
  const reference = request_uri.split(":").at(-1);
  const entry = await env.store.get(["pushed_request", await sha256(reference)]);
  assertEquals(entry?.value, {
    clientId: env.tpp.clientId,
    bank: "BANKA",
    consentId,
    redirectUri: "https://shop.example/callback",
    codeChallenge: await sha256(await sha256(`verifier of ${consentId}`)),
    state: "af0ifjsldkj",
    dpopJkt: await thumbprint(key),
    expiresAt: env.now + 599_000,
    completed: false,
    v: 1,
  });
  const traces = JSON.stringify([await env.store.list({ prefix: [], limit: 1000 }), env.logged]);
  assertEquals(traces.includes(reference), false);
});

Deno.test("POST par rejects request_uri and request [PA-N2, PA2, PA3]", async (t) => {
  await using env = await openEnvironment();
  const { request_uri } = await good(push(env, await awaitingConsent(env)), 201);
  await table(t, env, INVALID_REQUEST, {
    "a request_uri of the platform's": { request_uri },
    "an https request_uri": { request_uri: "https://shop.example/request.jwt" },
    "a request object": { request: "e30.e30.e30" },
  });
  assertEquals(env.fetched.filter((url) => url.includes("shop.example")), []);
});

Deno.test("POST par wants a code_challenge, as S256 makes it [PA-N3, PA6, FM3]", async (t) => {
  await using env = await openEnvironment();
  const challenge = await sha256("verifier");
  const bad = [
    undefined,
    "",
    challenge.slice(1),
    `${challenge}A`,
    `${challenge}=`,
    `${challenge}\n`,
    "+".repeat(43),
    "A".repeat(128),
  ];
  await table(t, env, INVALID_REQUEST, each("code_challenge", bad));
});

Deno.test("POST par takes S256 alone [PA-N4, PA6]", async (t) => {
  await using env = await openEnvironment();
  await table(
    t,
    env,
    INVALID_REQUEST,
    each("code_challenge_method", [undefined, "", "plain", "s256", "S512", "S256 ", "none"]),
  );
});

Deno.test("POST par takes response_type code alone [PA-N5, PA4]", async (t) => {
  await using env = await openEnvironment();
  const others = [
    "token",
    "code id_token",
    "code token",
    "id_token",
    "none",
    "Code",
    "code ",
    "code code",
    "x".repeat(999),
  ];
  await table(t, env, [400, "unsupported_response_type"], each("response_type", others));
  await table(t, env, INVALID_REQUEST, each("response_type", [undefined, ""]));
});

Deno.test("POST par wants a redirect_uri [PA-N6]", async (t) => {
  await using env = await openEnvironment();
  await table(t, env, INVALID_REQUEST, each("redirect_uri", [undefined, ""]));
});

Deno.test("POST par takes registered redirect URLs alone, byte for byte [PA-N7, PA5, FAPI-D13]", async (t) => {
  await using env = await openEnvironment();
  await table(
    t,
    env,
    INVALID_REQUEST,
    each("redirect_uri", [
      "https://evil.example/callback",
      "https://other.example/callback", // another client's
      "https://bank-a.example/sca", // the bank's
      "https://shop.example/callback/",
      "https://shop.example/callbacks",
      "https://shop.example/callback?a=b",
      "https://shop.example/callback?",
      "https://shop.example/callback?dummy2=ipsum&dummy1=lorem",
      "https://shop.example/callback#f",
      "https://shop.example/callback#",
      "http://shop.example/callback",
      "HTTPS://shop.example/callback",
      "https://SHOP.example/callback",
      "https://shop.example./callback",
      "https://shop.example:443/callback",
      "https://user@shop.example/callback",
      "https://shop.example@evil.example/callback",
      "https://shop.example.evil.example/callback",
      "https://shop.example/x/../callback",
      "https://shop.example//callback",
      "https://shop.example/%63allback",
      "https://shop.example/callback ",
      " https://shop.example/callback",
      "https://shop.example/callback\n",
      "https://shop.example\\callback",
      "https://shop.example/*",
      "javascript:alert(1)",
      "//shop.example/callback",
      "/callback",
    ]),
  );
  await acceptedEverywhere(t, env, {
    "each registered one": () => ({ form: { redirect_uri: SHOP_REDIRECTS[1] } }),
  }, [await pushing(env)]);
});

Deno.test("POST par takes scope payments alone [PA-N8, PA7]", async (t) => {
  await using env = await openEnvironment();
  const bad = [undefined, "", "bank", "openid payments", "payments bank", "Payments", "admin"];
  await table(t, env, [400, "invalid_scope"], each("scope", bad));
});

Deno.test("POST par takes a DPoP binding that is sound, and one alone [PA-N10, PA10, B2]", async (t) => {
  await using env = await openEnvironment();
  const [key, other] = [await dpopKey(), await testKey(10)];
  const jkt = await thumbprint(key);
  const hex = Uint8Array.fromBase64(jkt, { alphabet: "base64url" }).toHex();
  await table(
    t,
    env,
    INVALID_REQUEST,
    each("dpop_jkt", [jkt.slice(1), `${jkt}A`, `${jkt}=`, hex, `${jkt} `, "+".repeat(43)]),
  );
  const par = [await pushing(env)];
  await rejectedEverywhere(t, env, INVALID_REQUEST, {
    "dpop_jkt of another key than the proof's": () => ({ key: other, form: { dpop_jkt: jkt } }),
    "malformed dpop_jkt beside a good proof": () => ({ key, form: { dpop_jkt: jkt.slice(1) } }),
  }, par);
  await rejectedEverywhere(t, env, [400, "invalid_dpop_proof"], {
    "dpop_jkt beside a bad proof": async ({ target }) => ({
      proof: await dpopProof(env, key, target, { claims: { htm: "GET" } }),
      form: { dpop_jkt: jkt },
    }),
  }, par);
  await acceptedEverywhere(t, env, {
    "dpop_jkt": () => ({ form: { dpop_jkt: jkt } }),
    "DPoP header": () => ({ key }),
    "both": () => ({ key, form: { dpop_jkt: jkt } }),
  }, par);
});

Deno.test("POST par gives a long state back as it came [PA-N13, 2.3]", async (t) => {
  await using env = await openEnvironment();
  const states = { "1000": "s".repeat(1000), "2048": "s".repeat(2048), "every VSCHAR": visibleCharacters() };
  await steps(t, states, async (state) => {
    const answer = await authorise(env, await toBank(env, { form: { state } }));
    const { searchParams } = new URL(answer.headers.get("location") ?? "");
    assertEquals([answer.status, searchParams.get("state")], [303, state]);
  });
});

Deno.test("POST par goes without state, and none comes back [PA-N14]", async (t) => {
  await using env = await openEnvironment();
  for (const state of [undefined, ""]) {
    await t.step(state ?? "missing", async () => {
      const answer = await authorise(env, await toBank(env, { form: { state } }));
      const { searchParams } = new URL(answer.headers.get("location") ?? "");
      assertEquals([...searchParams.keys()].sort(), ["code", "iss"]);
      assertEquals(searchParams.get("iss"), `${AUTH_URL}/BANKA`);
    });
  }
});

Deno.test("POST par rejects a state that is not 1 to 2048 visible ASCII characters [PA-N19, FM6]", async (t) => {
  await using env = await openEnvironment();
  const bad = ["a\r\nb", "a\nb", "a\n", "\t", "a\0", "é", "€", "\u007f", "\u{1f600}", "s".repeat(2049)];
  await table(t, env, INVALID_REQUEST, each("state", bad));
});

Deno.test("POST par answers no code of user interaction [PA-N20]", async (t) => {
  await using env = await openEnvironment();
  await acceptedEverywhere(t, env, {
    "prompt none": () => ({ form: { prompt: "none", max_age: "0", acr_values: "x" } }),
  }, [await pushing(env)]);
});

Deno.test("POST par beyond the limit answers 429 with Retry-After and spends nothing [PA-N17]", async () => {
  await using env = await openEnvironment({ environment: { RATE_LIMITS: "authorization=1/2" } });
  const par = await pushing(env); // its token took the first of two
  assertEquals((await par.send()).status, 201);
  const form = await authentication(env, env.tpp, "BANKA");
  const before = await env.snapshot();
  const rejected = await par.send({ form });
  assertEquals(rejected.headers.get("retry-after"), "1");
  await assertApiError(rejected, [429, "temporarily_unavailable"]);
  assertEquals(await env.snapshot(), before);
  env.now += 1000;
  assertEquals((await par.send({ form })).status, 201);
});

Deno.test("POST par is for TPPs [PA7, B1]", async () => {
  await using env = await openEnvironment();
  const consentId = await awaitingConsent(env);
  const form = { scope: "bank", redirect_uri: env.bankA.redirectUris[0] };
  await assertRejected(
    env,
    [400, "unauthorized_client"],
    () => push(env, consentId, { client: env.bankA, form }),
  );
});

Deno.test("GET authorization takes a request_uri for 599 seconds [PA11, LT7, J32]", async (t) => {
  await using env = await openEnvironment();
  for (const [milliseconds, status] of [[0, 303], [598_999, 303], [599_000, 400], [600_000, 400]]) {
    await t.step(`after ${milliseconds} ms`, async () => {
      const { request_uri } = await good(push(env, await awaitingConsent(env)), 201);
      env.now += milliseconds ?? 0;
      assertEquals((await authorize(new Browser(env), env.tpp, request_uri)).status, status);
    });
  }
});

function each(name: string, values: readonly (string | undefined)[]): Record<string, Deviation["form"]> {
  return Object.fromEntries(
    values.map((value) => [
      `${name}: ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 70)}`,
      { [name]: value },
    ]),
  );
}

/** Visible ASCII, the space included (RFC 6749 App. A.5). */
function visibleCharacters(): string {
  return String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 0x20 + index));
}

async function table(
  t: Deno.TestContext,
  env: Parameters<typeof pushing>[0],
  expected: Expected,
  forms: Readonly<Record<string, Deviation["form"]>>,
): Promise<void> {
  const cases = Object.entries(forms).map((
    [name, form],
  ): [string, Case] => [name, () => ({ form: form ?? {} })]);
  await rejectedEverywhere(t, env, expected, Object.fromEntries(cases), [await pushing(env)]);
}

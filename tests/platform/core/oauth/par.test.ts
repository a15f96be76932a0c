/** `POST /{BANK}/par.oauth2/v1`: what a pushed request must say, and the answer. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { bodyOf, type PushedRequest } from "testing/answers.ts";
import { dpopKey, good, push } from "testing/flows.ts";
import { thumbprint } from "testing/jwts.ts";
import { acceptedEverywhere, awaitingConsent, pushing } from "testing/oauth_requests.ts";
import { SHOP_REDIRECTS } from "testing/environment.ts";
import { bodyNamed } from "testing/histories.ts";
import { test } from "support/environment_test.ts";
import { each, INVALID_REQUEST, table } from "./par_tables.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { evidencePlace } from "../../../../src/platform/evidence/evidence.ts";

test("POST par answers 201 with a request_uri for 599 seconds [PA11, PA15, FM2]", async ({ env }) => {
  const consentId = await awaitingConsent(env);
  const response = await push(env, consentId);
  const body = await bodyOf(response);
  assertEquals([response.status, response.headers.get("content-type")], [201, "application/json"]);
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(Object.keys(body).sort(), ["expires_in", "request_uri"]);
  assertEquals(body.expires_in, 599);
  assertMatch(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
  assertNotEquals((await good(push(env, consentId), 201)).request_uri, body.request_uri);
});

test("POST par keeps the request, without credentials and by hash [PA12, PA13, FAPI-G21]", async ({ env }) => {
  const consentId = await awaitingConsent(env);
  const key = await dpopKey();
  const form = { dpop_jkt: await thumbprint(key), foo: "bar" };
  const { request_uri } = await good(push(env, consentId, { form }), 201);
  const reference = request_uri.split(":").at(-1);
  const entry = await env.store.get(["pushed_request", await sha256(reference ?? "")]);
  assertEquals(entry?.value, {
    clientId: env.tpp.clientId,
    registration: 1,
    bank: "BANKA",
    consentId,
    redirectUri: "https://shop.example/callback",
    codeChallenge: await sha256(await sha256(`verifier of ${consentId}`)),
    state: "af0ifjsldkj",
    dpopJkt: await thumbprint(key),
    expiresAt: env.now + 599_000,
    completed: false,
    sessions: 0,
    v: 1,
  });
  const traces = JSON.stringify([await env.store.list({ prefix: [], limit: 1000 }), env.logged]);
  assertEquals(traces.includes(reference ?? ""), false);
});

test("POST par keeps in the history what counts, however much else the form has [PA13, J38]", async ({ env }) => {
  const par = await pushing(env);
  const wide = "é".repeat(8000); // two bytes as sent, six in a form that is written again
  const body = (good: string): Uint8Array<ArrayBuffer> =>
    new TextEncoder().encode(`${good}&scope=payments${"+".repeat(20_000)}&ui_locales=fr+${wide}&x=${wide}`);
  const response = await par.send({ form: { scope: undefined }, body });
  assertEquals(response.status, 201);
  const [reference = ""] = (await bodyOf<PushedRequest>(response)).request_uri.split(":").slice(-1);
  const pushed = await env.store.get<{ consentId: string }>(["pushed_request", await sha256(reference)]);
  const consentId = pushed?.value.consentId ?? "";
  const kept = await bodyNamed(env.store, evidencePlace(consentId, 2, "pushed_request"));
  if (kept === null || kept === "lost") throw new Error("no evidence of the pushed request");
  assertEquals(Object.fromEntries(new URLSearchParams(new TextDecoder().decode(kept.bytes))), {
    client_id: env.tpp.clientId,
    response_type: "code",
    redirect_uri: SHOP_REDIRECTS[0],
    code_challenge: await sha256(await sha256(`verifier of ${consentId}`)),
    code_challenge_method: "S256",
    consent_id: consentId,
    state: "af0ifjsldkj",
    scope: "payments",
    ui_locales: "fr",
  });
});

test("POST par rejects request_uri and request [PA-N2, PA2, PA3]", async ({ env, t }) => {
  const { request_uri } = await good(push(env, await awaitingConsent(env)), 201);
  await table(t, env, INVALID_REQUEST, {
    "a request_uri of the platform's": { request_uri },
    "an https request_uri": { request_uri: "https://shop.example/request.jwt" },
    "a request object": { request: "e30.e30.e30" },
  });
  assertEquals(env.fetched.filter((url) => url.includes("shop.example")), []);
});

test("POST par wants a code_challenge, as S256 makes it [PA-N3, PA6, FM3]", async ({ env, t }) => {
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

test("POST par takes S256 alone [PA-N4, PA6]", async ({ env, t }) => {
  await table(
    t,
    env,
    INVALID_REQUEST,
    each("code_challenge_method", [undefined, "", "plain", "s256", "S512", "S256 ", "none"]),
  );
});

test("POST par takes response_type code alone [PA-N5, PA4]", async ({ env, t }) => {
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

test("POST par wants a redirect_uri [PA-N6]", async ({ env, t }) => {
  await table(t, env, INVALID_REQUEST, each("redirect_uri", [undefined, ""]));
});

test("POST par takes registered redirect URLs alone, byte for byte [PA-N7, PA5, FAPI-D13]", async ({ env, t }) => {
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

test("POST par takes scope payments alone [PA-N8, PA7]", async ({ env, t }) => {
  const bad = [undefined, "", "bank", "openid payments", "payments bank", "Payments", "admin"];
  await table(t, env, [400, "invalid_scope"], each("scope", bad));
});

import { assertEquals } from "@std/assert";
import { authentication, dpopKey, good, push } from "testing/flows.ts";
import { authorise, authorize, Browser, toBank } from "testing/authorization_flow.ts";
import { dpopProof, thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import {
  acceptedEverywhere,
  assertApiError,
  assertRejected,
  awaitingConsent,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { each, INVALID_REQUEST, table } from "./par_tables.ts";
import { unchanged } from "testing/store_contents.ts";

test("POST par takes a DPoP binding that is sound, and one alone [PA-N10, PA10, B2]", async ({ env, t }) => {
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

test("POST par gives a long state back as it came [PA-N13, 2.3]", async ({ env, t }) => {
  const states = { "1000": "s".repeat(1000), "2048": "s".repeat(2048), "every VSCHAR": visibleCharacters() };
  await steps(t, states, async (state) => {
    const answer = await authorise(env, await toBank(env, { form: { state } }));
    const { searchParams } = new URL(answer.headers.get("location") ?? "");
    assertEquals([answer.status, searchParams.get("state")], [303, state]);
  });
});

test("POST par goes without state, and none comes back [PA-N14]", async ({ env, t }) => {
  await stepsOf(t, [undefined, ""], (state) => state ?? "missing", async (state) => {
    const answer = await authorise(env, await toBank(env, { form: { state } }));
    const { searchParams } = new URL(answer.headers.get("location") ?? "");
    assertEquals([...searchParams.keys()].sort(), ["code", "iss"]);
    assertEquals(searchParams.get("iss"), `${AUTH_URL}/BANKA`);
  });
});

test("POST par rejects a state that is not 1 to 2048 visible ASCII characters [PA-N19, FM6]", async ({ env, t }) => {
  const bad = ["a\r\nb", "a\nb", "a\n", "\t", "a\0", "é", "€", "\u007f", "\u{1f600}", "s".repeat(2049)];
  await table(t, env, INVALID_REQUEST, each("state", bad));
});

test("POST par answers no code of user interaction [PA-N20]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "prompt none": () => ({ form: { prompt: "none", max_age: "0", acr_values: "x" } }),
  }, [await pushing(env)]);
});

Deno.test("POST par beyond the limit answers 429 with Retry-After and spends nothing [PA-N17]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_RATE_LIMITS: "authorization=1/2" } });
  const par = await pushing(env); // its token took the first of two
  assertEquals((await par.send()).status, 201);
  const form = await authentication(env, env.tpp, "BANKA");
  const rejected = await unchanged(env, () => par.send({ form }));
  assertEquals(rejected.headers.get("retry-after"), "1");
  await assertApiError(rejected, [429, "temporarily_unavailable"]);
  env.now += 1000;
  assertEquals((await par.send({ form })).status, 201);
});

test("POST par is for TPPs [PA7, B1]", async ({ env }) => {
  const consentId = await awaitingConsent(env);
  const form = { scope: "bank", redirect_uri: env.bankA.redirectUris[0] };
  await assertRejected(
    env,
    [400, "unauthorized_client"],
    () => push(env, consentId, { client: env.bankA, form }),
  );
});

test("GET authorization takes a request_uri for 599 seconds [PA11, LT7, J32]", async ({ env, t }) => {
  for (const [milliseconds, status] of [[0, 303], [598_999, 303], [599_000, 400], [600_000, 400]]) {
    await t.step(`after ${milliseconds} ms`, async () => {
      const { request_uri } = await good(push(env, await awaitingConsent(env)), 201);
      env.now += milliseconds ?? 0;
      assertEquals((await authorize(new Browser(env), env.tpp, request_uri)).status, status);
    });
  }
});

/** Visible ASCII, the space included (RFC 6749 App. A.5). */
function visibleCharacters(): string {
  return String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 0x20 + index));
}

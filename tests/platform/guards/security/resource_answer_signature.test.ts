/** The platform's own signature on what it answers (contract SG6), verified as a careful client would. */
import { assertEquals, assertRejects } from "@std/assert";
import { errors } from "jose";
import type { CreatedConsent } from "testing/answers.ts";
import { call, clientToken, consentBody, good } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { payloadSignature } from "testing/jwts.ts";
import { verifyAnswer } from "testing/resource_answers.ts";
import { CONSENTS, resourceCalls } from "support/resource_calls.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";

const OBIE = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);

Deno.test("POST endpoints sign their 201 in the profile of the request [JWS-15]", async (t) => {
  for (const profile of ["A", "B"] as const) {
    await using env = await openEnvironment();
    for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "POST")) {
      await t.step(`${endpoint.name}, profile ${profile}`, async () => {
        const response = await endpoint.send({ profile });
        assertEquals(response.status, 201);
        assertEquals((await verifyAnswer(env, response)).profile, profile);
      });
    }
  }
});

test("GET endpoints sign their 200 in profile A [JWS-15]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "GET")) {
    await t.step(endpoint.name, async () => {
      const response = await endpoint.send();
      assertEquals(response.status, 200);
      assertEquals((await verifyAnswer(env, response)).profile, "A");
    });
  }
});

test("a repeated GET has the same signature, which verifies, in the profile of the request [JWS-15]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const made = await good<CreatedConsent>(
    call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) }),
    201,
  );
  const read = async (headers: Record<string, string> = {}): Promise<[string | null, string]> => {
    const response = await call(env, env.tpp, bound, `${CONSENTS}/${made.Data.ConsentId}`, { headers });
    const signature = response.headers.get("x-jws-signature");
    return [signature, (await verifyAnswer(env, response)).profile];
  };
  const first = await read();
  assertEquals([await read(), ...await Promise.all([read(), read()])], [first, first, first]);
  const [, profile] = await read({
    "x-jws-signature": await payloadSignature(env, env.tpp, "", { profile: "B" }),
  });
  assertEquals([first[1], profile], ["A", "B"]);
});

test("POST domestic-payment-consents signs an idempotent replay [JWS-15] [IDE-01]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  await stepsOf(t, ["A", "B"] as const, (profile) => `profile ${profile}`, async (profile) => {
    const options = { body: JSON.stringify(consentBody()), idempotencyKey: "same", profile };
    const response = await call(env, env.tpp, bound, CONSENTS, options);
    assertEquals(response.status, 201);
    assertEquals((await verifyAnswer(env, response)).profile, profile);
  });
});

test("resource endpoints sign their rejections, in the profile of the request [JWS-15]", async ({ env, t }) => {
  const { bound, payment, consentId } = await authorised(env);
  const body = JSON.stringify(consentBody());
  const post = (sent: string, options = {}): Promise<Response> =>
    call(env, env.tpp, bound, CONSENTS, { body: sent, ...options });
  const signed = (text: string, profile: "A" | "B"): Promise<string> =>
    payloadSignature(env, env.tpp, text, { profile });
  const cases: Record<string, readonly [number, "A" | "B", () => Promise<Response>]> = {
    "400 fields, A": [400, "A", () => post("{}", { profile: "A" })],
    "400 fields, B": [400, "B", () => post("{}", { profile: "B" })],
    "400 bad signature, A": [400, "A", async () => post("{}", { signature: await signed(body, "A") })],
    "400 bad signature, B": [400, "B", async () => post("{}", { signature: await signed(body, "B") })],
    "400 no signature": [400, "A", () => post(body, { signature: null })],
    "400 unreadable signature": [400, "A", () => post(body, { signature: "rubbish" })],
    "400 bad header, B": [400, "B", () => post(body, { headers: { "x-fapi-auth-date": "today" } })],
    "400 not found": [400, "A", () => call(env, env.tpp, bound, `${CONSENTS}/${crypto.randomUUID()}`)],
    "400 credentials twice": [
      400,
      "A",
      () => post(body, { headers: { authorization: "DPoP a, DPoP b" }, signature: null }),
    ],
    "403, B": [403, "B", () => call(env, env.tpp, payment, CONSENTS, { body, profile: "B" })],
    "403 of a GET": [403, "A", () => call(env, env.tpp, payment, `${CONSENTS}/${consentId}`)],
    "413, B": [413, "B", () => post(body + " ".repeat(65_536), { profile: "B" })],
    "415, B": [415, "B", () => post(body, { headers: { "content-type": "text/plain" }, profile: "B" })],
  };
  await steps(t, cases, async ([status, profile, send]) => {
    const response = await send();
    assertEquals(response.status, status);
    assertEquals((await verifyAnswer(env, response)).profile, profile);
  });
});

test("the header of an answer's signature says who signed, when and what is critical [JWS-15]", async ({ env, t }) => {
  env.now += 12_345; // a time that is no whole second
  const bound = await clientToken(env, env.tpp);
  await stepsOf(t, ["A", "B"] as const, (profile) => `profile ${profile}`, async (profile) => {
    const response = await post(env, bound, profile);
    const { header } = await verifyAnswer(env, response);
    const { kid, ...rest } = header;
    assertEquals(typeof kid, "string");
    const claims = {
      alg: "PS256",
      "http://openbanking.org.uk/iat": Math.floor(env.now / 1000),
      "http://openbanking.org.uk/iss": "https://auth.platform.example",
      "http://openbanking.org.uk/tan": "directory.example",
    };
    assertEquals(
      rest,
      profile === "A" ? { ...claims, b64: false, crit: ["b64", ...OBIE] } : { ...claims, crit: OBIE },
    );
  });
});

test("an answer's signature does not fit another answer [JWS-15]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const [one, other] = [await post(env, bound, "A"), await post(env, bound, "A")];
  const swapped = new Response(await one.text(), { headers: other.headers });
  await assertRejects(() => verifyAnswer(env, swapped), errors.JWSSignatureVerificationFailed);
});

function post(
  env: Environment,
  bound: Awaited<ReturnType<typeof clientToken>>,
  profile: "A" | "B",
): Promise<Response> {
  return call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()), profile });
}

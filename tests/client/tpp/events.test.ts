/** The TPP's client of events: what it sends, and which tokens it takes (contract EVT2 to EVT4). */
import { assertEquals, assertRejects } from "@std/assert";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { pollEvents } from "../../../src/client/tpp/events.ts";
import { signClaims } from "../../../src/base/jose/sign_claims.ts";
import { testKey } from "testing/keys.ts";
import { authUrl, json, paymentId, type TppEnvironment } from "support/sandbox_tpp_platform.ts";
import { steps } from "support/steps.ts";
import { lastRequest, openEnvironmentAndFlow } from "./tpp_client.ts";

const EVENTS = "/BANKA/events/v1";
const PLATFORM_KEY = 2;
const OTHER_KEY = 3;

interface Token {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly typ?: string;
  readonly key?: number;
  /** The name of the token in `sets`. */
  readonly jti?: string;
}

/** Answers the next poll with this token, and the request for keys with the platform's. */
async function answerWith(
  env: TppEnvironment,
  { claims, typ = "secevent+jwt", key = PLATFORM_KEY, jti = "1-a" }: Token,
): Promise<void> {
  const good = {
    iss: `${authUrl}/BANKA`,
    aud: env.tpp.participant.clientId,
    iat: 1_770_000_000,
    jti: "1-a",
    toe: 1_769_999_990,
    events: {
      "urn:uk:org:openbanking:events:resource-update": {
        subject: { "http://openbanking.org.uk/rid": paymentId },
      },
      [`${authUrl}/events/payment-status-changed`]: { status: "Rejected", reason: "AM04" },
    },
  };
  const signer = { key: await (await testKey(key)).privateKey("sign"), kid: "platform" };
  const token = await signClaims({ ...good, ...claims }, signer, typ);
  const { kty, n, e } = await crypto.subtle.exportKey(
    "jwk",
    await (await testKey(PLATFORM_KEY)).publicKey("verify"),
  );
  env.answers.set("/jwks", [
    () => json(200, { keys: [{ kty, n, e, kid: "platform", use: "sig", alg: "PS256" }] }),
  ]);
  env.answers.set(EVENTS, [() => json(200, { moreAvailable: true, sets: { [jti]: token } })]);
}

Deno.test("pollEvents sends an unsigned body without an idempotency key, and returns verified events [EVT3]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  await answerWith(env, {});
  const token = await grantClientToken(flow);
  const { events, moreAvailable } = await pollEvents(flow, token, { ack: ["0-b"], returnImmediately: true });
  assertEquals(moreAvailable, true);
  assertEquals(events, [{
    jti: "1-a",
    type: "payment-status-changed",
    resource: paymentId,
    status: "Rejected",
    at: 1_769_999_990,
    reason: "AM04",
  }]);
  const { method, headers, body } = lastRequest(env, EVENTS);
  assertEquals([method, body], ["POST", '{"ack":["0-b"],"returnImmediately":true}']);
  assertEquals([headers.get("x-jws-signature"), headers.get("x-idempotency-key")], [null, null]);
});

const FORGED: Readonly<Record<string, Token>> = {
  "for another TPP": { claims: { aud: "SC-0" } },
  "of another bank's issuer": { claims: { iss: `${authUrl}/BANKB` } },
  "without an issuer": { claims: { iss: undefined } },
  "with another typ": { typ: "JWT" },
  "signed with another key": { key: OTHER_KEY },
  "with another jti than its name": { jti: "2-b" },
  "without events": { claims: { events: undefined } },
};

Deno.test("pollEvents throws at a token that is not the platform's for this TPP [EVT2]", async (t) => {
  await steps(t, FORGED, async (token) => {
    const { env, flow } = await openEnvironmentAndFlow();
    await answerWith(env, token);
    const granted = await grantClientToken(flow);
    await assertRejects(() => pollEvents(flow, granted), Error);
  });
});

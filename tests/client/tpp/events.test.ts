/** The TPP's client of events: what it sends, and which tokens it takes (contract EVT2 to EVT11). */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { ApiErrorResponse } from "../../../src/client/party/api_error.ts";
import { pollEvents, subscribeToEvents, verifyEvent } from "../../../src/client/tpp/events.ts";
import { EVENT_AT, type EventToken, eventToken, ofConsent, OTHER_KEY } from "support/event_tokens.ts";
import {
  authUrl,
  consentId,
  json,
  paymentId,
  type TppEnvironment,
  unsigned,
} from "support/sandbox_tpp_platform.ts";
import { steps } from "support/steps.ts";
import { lastRequest, openEnvironmentAndFlow } from "./tpp_client.ts";

const EVENTS = "/BANKA/events/v1";
const SUBSCRIPTIONS = "/BANKA/event-subscriptions/v1";

interface Token extends EventToken {
  /** The name of the token in `sets`. */
  readonly jti?: string;
}

/** Answers the next poll with this token. */
async function answerWith(env: TppEnvironment, { jti = "1-a", ...token }: Token): Promise<void> {
  const set = await eventToken(env, token);
  env.answers.set(EVENTS, [() => json(200, { moreAvailable: true, sets: { [jti]: set } })]);
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
    consentId,
    status: "Rejected",
    at: EVENT_AT,
    reasonCode: "AM04",
    reason: "no money",
  }]);
  const { method, headers, body } = lastRequest(env, EVENTS);
  assertEquals([method, body], ["POST", '{"ack":["0-b"],"returnImmediately":true}']);
  assertEquals([headers.get("x-jws-signature"), headers.get("x-idempotency-key")], [null, null]);
});

Deno.test("pollEvents rejects an answer without a signature [EVT3, SG6]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  env.answers.set(EVENTS, [() => unsigned(json(200, { moreAvailable: false, sets: {} }))]);
  await assertRejects(() => pollEvents(flow, token), Error, "no x-jws-signature");
});

const FORGED_ALONE: Readonly<Record<string, EventToken>> = {
  "for another TPP": { claims: { aud: "SC-0" } },
  "of another bank's issuer": { claims: { iss: `${authUrl}/BANKB` } },
  "without an issuer": { claims: { iss: undefined } },
  "with another typ": { typ: "JWT" },
  "signed with another key": { key: OTHER_KEY },
  "without jti": { claims: { jti: undefined } },
  "without events": { claims: { events: undefined } },
};
const FORGED: Readonly<Record<string, Token>> = {
  ...FORGED_ALONE,
  "with another jti than its name": { jti: "2-b" },
};

Deno.test("pollEvents throws at a token that is not the platform's for this TPP [EVT2]", async (t) => {
  await steps(t, FORGED, async (token) => {
    const { env, flow } = await openEnvironmentAndFlow();
    await answerWith(env, token);
    const granted = await grantClientToken(flow);
    await assertRejects(() => pollEvents(flow, granted), Error);
  });
});

Deno.test("verifyEvent returns the event of a pushed token, and throws at one that is not the platform's for this TPP [EVT11, EVT2]", async (t) => {
  const { env, flow } = await openEnvironmentAndFlow();
  const events = ofConsent("consent-authorised", "Authorised");
  assertEquals(await verifyEvent(flow, await eventToken(env, { claims: { events } })), {
    jti: "1-a",
    type: "consent-authorised",
    resource: consentId,
    consentId,
    status: "Authorised",
    at: EVENT_AT,
  });
  await steps(t, FORGED_ALONE, async (token) => {
    const set = await eventToken(env, token);
    await assertRejects(() => verifyEvent(flow, set), Error);
  });
});

Deno.test("subscribeToEvents sends a signed body without an idempotency key, and takes a subscription that is there [EVT9]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const token = await grantClientToken(flow);
  const subscribe = (): Promise<void> => subscribeToEvents(flow, token, "https://shop.example/events");
  await subscribe();
  const { method, headers, body } = lastRequest(env, SUBSCRIPTIONS);
  const wanted = '{"Data":{"CallbackUrl":"https://shop.example/events","Version":"4.0"}}';
  assertEquals([method, body, headers.get("x-idempotency-key")], ["POST", wanted, null]);
  assert(headers.get("x-jws-signature") !== null);
  env.answers.set(SUBSCRIPTIONS, [() => json(409, {}), () => json(400, {})]);
  await subscribe();
  await assertRejects(subscribe, ApiErrorResponse);
});

/**
 * Requests that admission control rejects: their responses, that they use up no proof or key, and which requests hold
 * no place.
 */
import { assert, assertEquals } from "@std/assert";
import type { OAuthError } from "testing/answers.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorised, authorize, Browser } from "testing/authorization_flow.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { costOf, FREE } from "support/crypto_meter.ts";
import { type HeldStore, openHeldStore } from "support/held_store.ts";
import { openPushEnvironment } from "support/orders.ts";
import { prepared } from "support/prepared_requests.ts";
import { steps } from "support/steps.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";
const HELD = "00000000-0000-4000-8000-00000000aaaa";
const ONE = { PLATFORM_REQUESTS_IN_WORK: "1", PLATFORM_REQUEST_WAIT_SECONDS: "1" };

/** Takes the only place of a lane with a request that the store holds; resolves with a function that lets it end. */
async function fill(store: HeldStore, send: () => Promise<Response>): Promise<() => Promise<void>> {
  const isHeld = store.hold(HELD, 1);
  const holder = send();
  await isHeld;
  return async () => {
    store.release();
    await (await holder).body?.cancel();
  };
}

async function fillParticipants(env: Environment, store: HeldStore): Promise<() => Promise<void>> {
  const bound = await clientToken(env, env.otherTpp);
  return await fill(store, () => call(env, env.otherTpp, bound, `${CONSENTS}/${HELD}`));
}

Deno.test("a request that finds no place in time is answered 503 before anything of it is checked or used up", async (t) => {
  const store = await openHeldStore();
  await using env = await openEnvironment({ store, environment: ONE });
  const bound = await clientToken(env, env.tpp);
  const paying = await authorised(env);
  const requests = {
    "consent": [
      (e: Environment) => call(e, e.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) }),
      201,
    ],
    "payment": [(e: Environment) => pay(e, paying), 201],
    "token": [(e: Environment) => requestToken(e, e.tpp), 200],
  } as const;
  await steps(t, requests, async ([act, status], name) => {
    const kept: Request[] = [];
    await prepared(env, (here) => act(Object.assign(Object.create(here), { api: keep(kept, here) })));
    const send = (): Promise<Response> => env.api((kept[0] as Request).clone(), env.tpp);
    const end = await fillParticipants(env, store);
    const before = await env.store.list({ prefix: [], limit: 10_000 });
    const { result, cost } = await costOf(send);
    const text = await result.text();
    assertEquals([result.status, cost], [503, FREE]);
    assertEquals(result.headers.get("retry-after"), name === "consent" ? "5" : "1");
    assertEquals(
      text === "" ? "" : (JSON.parse(text) as OAuthError).error,
      name === "token" ? "temporarily_unavailable" : "",
    );
    const after = await env.store.list({ prefix: [], limit: 10_000 });
    assertEquals(
      after.filter(({ key }) => key[0] !== "rate_bucket"),
      before.filter(({ key }) => key[0] !== "rate_bucket"),
    );
    await end();
    await good(send(), status);
  });
});

function keep(kept: Request[], env: Pick<Environment, "api">): Environment["api"] {
  return (request, as) => {
    kept.push(request.clone());
    return env.api(request, as);
  };
}

Deno.test("a customer who finds no place gets a page that says so", async () => {
  const store = await openHeldStore();
  await using env = await openEnvironment({ store, environment: ONE });
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const { request_uri } = await good(push(env, Data.ConsentId), 201);
  const isHeld = store.hold("pushed_request", 1);
  const holder = authorize(new Browser(env), env.tpp, request_uri);
  await isHeld;
  const answer = await authorize(new Browser(env), env.tpp, request_uri);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "5"]);
  assert((await answer.text()).includes("<!DOCTYPE html>"));
  store.release();
  assertEquals((await holder).status, 303);
});

Deno.test("a payment that waits for its bank keeps no place from others", async () => {
  const bank = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  await using env = await openPushEnvironment(() => {
    asked.resolve();
    return bank.promise;
  }, { environment: { ...ONE, PLATFORM_REQUEST_WAIT_SECONDS: "60" } });
  const bound = await clientToken(env, env.tpp);
  const flow = await authorised(env);
  const payment = pay(env, flow);
  await asked.promise;
  assertEquals((await call(env, env.tpp, bound, `${CONSENTS}/${flow.consentId}`)).status, 200);
  bank.resolve(Response.json({ Status: "AcceptedSettlementInProcess" }));
  assertEquals((await good(payment, 201)).Data.Status, "AcceptedSettlementInProcess");
});

Deno.test("a request whose body does not come keeps no place from others", async () => {
  await using env = await openEnvironment({ environment: { ...ONE, PLATFORM_REQUEST_WAIT_SECONDS: "60" } });
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      asked.resolve();
      return ended.promise.then(() => controller.close());
    },
  }, { highWaterMark: 0 });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const slow = env.api(
    new Request(`${BASE_URL}/BANKA/token.oauth2/v1`, { method: "POST", headers, body }),
    env.tpp,
  );
  await asked.promise;
  assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  ended.resolve();
  assertEquals((await slow).status, 400);
});

Deno.test("customers whose bodies do not come, however many, keep no other customer out", async () => {
  await using env = await openEnvironment({ environment: ONE });
  const { Data } = await createConsent(env, await clientToken(env, env.tpp));
  const { request_uri } = await good(push(env, Data.ConsentId), 201);
  const ended = new AbortController();
  const slow = await Promise.all(Array.from({ length: 200 }, () => postWithoutEnd(env, ended.signal)));
  assertEquals((await authorize(new Browser(env), env.tpp, request_uri)).status, 303);
  ended.abort();
  for (const { answer } of slow) await (await answer).body?.cancel();
});

/** Posts to the consent screen; resolves when the platform has begun to read the body, which ends with the signal. */
async function postWithoutEnd(
  env: Environment,
  end: AbortSignal,
): Promise<{ readonly answer: Promise<Response> }> {
  const asked = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      asked.resolve();
      return new Promise((resolve) =>
        end.addEventListener("abort", () => resolve(controller.close()), { once: true })
      );
    },
  }, { highWaterMark: 0 });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = env.browser(
    new Request(`${AUTH_URL}/BANKA/authorization.consent.oauth2?flow=x`, { method: "POST", headers, body }),
  );
  await Promise.race([asked.promise, answer]);
  return { answer };
}

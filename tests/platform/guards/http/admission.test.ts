/** Admission control over HTTP: whose turn it is when every place is taken, and what a full lane leaves alone. */
import { assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { call, clientToken, consentBody, type FlowEnvironment, pay, requestToken } from "testing/flows.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import type { OpenOrders } from "testing/operation_answers.ts";
import type { Participant } from "testing/participants.ts";
import { addKey } from "support/directory_network.ts";
import { type HeldStore, openHeldStore } from "support/held_store.ts";
import { prepared } from "support/prepared_requests.ts";

const CONSENTS = "/BANKA/domestic-payment-consents/v1";

interface Full extends AsyncDisposable {
  readonly env: Environment;
  readonly store: HeldStore;
  /** Takes the only place of the participants' lane with a request of the TPP, until the store is released. */
  fill(): Promise<void>;
  /** Prepares a request now, to be sent later; what was sent is written down when it is answered. */
  later(name: string, act: (env: FlowEnvironment) => Promise<unknown>): Promise<() => Promise<void>>;
  /** `name status`, in the order of the answers. */
  readonly answered: string[];
}

async function open(): Promise<Full> {
  const store = await openHeldStore();
  const env = await openEnvironment({ store, environment: { PLATFORM_REQUESTS_IN_WORK: "1" } });
  const answered: string[] = [];
  const send = (name: string, answer: Promise<Response>): Promise<void> =>
    answer.then((response) => void answered.push(`${name} ${response.status}`));
  const sent: Promise<void>[] = [];
  return {
    env,
    store,
    answered,
    async fill() {
      const { send: read } = await prepared(env, (here) => readConsent(here, env.tpp, { held: true }));
      const isHeld = store.hold(HELD, 1);
      sent.push(send("first", read()));
      await isHeld;
    },
    async later(name, act) {
      const request = await prepared(env, act);
      return () => send(name, request.send());
    },
    async [Symbol.asyncDispose]() {
      store.release();
      await Promise.all(sent);
      await env[Symbol.asyncDispose]();
    },
  };
}

/** An unknown consent: reading it takes a place like any other read. */
const HELD = "00000000-0000-4000-8000-00000000aaaa";
const OTHER = "00000000-0000-4000-8000-00000000bbbb";
const tokens = new WeakMap<Participant, ReturnType<typeof clientToken>>();

async function readConsent(
  env: FlowEnvironment,
  tpp: Participant,
  { held = false, as = tpp } = {},
): Promise<Response> {
  const bound = await tokens.get(tpp);
  if (bound === undefined) throw new Error("no token");
  return await call(env, tpp, bound, `${CONSENTS}/${held ? HELD : OTHER}`, { as });
}

async function withTokens(env: Environment, ...tpps: readonly Participant[]): Promise<void> {
  for (const tpp of tpps) {
    tokens.set(tpp, clientToken(env, tpp));
    await tokens.get(tpp);
  }
}

Deno.test("while one participant floods, another one's request is the next but one", async () => {
  await using full = await open();
  const { env, later, answered } = full;
  await withTokens(env, env.tpp, env.otherTpp);
  const flood = await Promise.all(
    Array.from({ length: 12 }, (_, n) => later(`flood ${n}`, (here) => readConsent(here, env.tpp))),
  );
  const other = await later("other", (here) => readConsent(here, env.otherTpp));
  await full.fill();
  const sent = [...flood, other].map((send) => send());
  full.store.release();
  await Promise.all(sent);
  assertEquals(answered.slice(0, 3), ["first 400", "flood 0 400", "other 400"]);
  assertEquals(answered.length, 14);
});

Deno.test("a participant's second certificate gives it no second turn", async () => {
  await using full = await open();
  const { env, later, answered } = full;
  const again = { ...env.tpp, transport: await addKey(env, env.tpp, "transport", 13) };
  env.now += 301_000;
  await withTokens(env, env.tpp, env.otherTpp);
  assertEquals((await readConsent(env, env.tpp, { as: again })).status, 400); // proven from here on
  const reads = [["a", env.tpp], ["a", env.tpp], ["b", again], ["b", again]] as const;
  const flood = await Promise.all(
    reads.map(([name, as]) => later(name, (here) => readConsent(here, env.tpp, { as }))),
  );
  const other = await Promise.all(
    [1, 2].map((n) => later(`other ${n}`, (here) => readConsent(here, env.otherTpp))),
  );
  await full.fill();
  const sent = [...flood, ...other].map((send) => send());
  full.store.release();
  await Promise.all(sent);
  assertEquals(answered, ["first", "a", "other 1", "a", "other 2", "b", "b"].map((name) => `${name} 400`));
});

Deno.test("a payment and the redemption of its code go before new consents and tokens of their TPP", async () => {
  await using full = await open();
  const { env, later, answered } = full;
  await withTokens(env, env.tpp);
  const paying = await authorised(env);
  const atBank = await toBank(env);
  const { consentId } = atBank;
  const code = codeOf(await authorise(env, atBank));
  const bound = await clientToken(env, env.tpp);
  const starts = await Promise.all([
    later("consent", (here) => call(here, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) })),
    later("token", (here) => requestToken(here, env.tpp)),
  ]);
  const ends = await Promise.all([
    later("payment", (here) => pay(here, paying)),
    later("code", (here) => redeem(here, { consentId, code })),
  ]);
  await full.fill();
  const sent = [...starts, ...ends].map((send) => send());
  full.store.release();
  await Promise.all(sent);
  assertEquals(answered.slice(0, 3).toSorted(), ["code 200", "first 400", "payment 201"]);
  assertEquals(answered.slice(3).toSorted(), ["consent 201", "token 200"]);
});

Deno.test("a full lane of the participants leaves the banks, customers, the public and the operator their places", async () => {
  await using full = await open();
  const { env, answered } = full;
  await withTokens(env, env.tpp);
  const bankToken = await clientToken(env, env.bankA);
  await full.fill();
  const path = `/BANKA/back-channel-auth/v1/${OTHER}`;
  assertEquals((await call(env, env.bankA, bankToken, path)).status, 400);
  const listed = await env.asOperator("/operations/payment-orders?state=dead");
  assertEquals([listed.status, (await bodyOf<OpenOrders>(listed)).Data.PaymentOrder.length], [200, 0]);
  const pages = ["/health/live", "/health/ready", "/openapi.json", "/jwks", "/BANKA/authorization.oauth2"];
  const statuses: number[] = [];
  for (const page of pages) {
    const answer = await env.browser(new Request(`${AUTH_URL}${page}`));
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  assertEquals(statuses, [200, 200, 200, 200, 400]);
  assertEquals(answered, []);
});

Deno.test("requests that wait for one fetch from the directory keep no place from the request that fetches", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_REQUESTS_IN_WORK: "1" } });
  const requests = await Promise.all(
    Array.from({ length: 6 }, () => prepared(env, (here) => requestToken(here, env.tpp))),
  );
  env.now += 45_000; // the copies of the directory are due for renewal, the assertions are still valid
  const answers = await Promise.all(requests.map(({ send }) => send()));
  assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 200]);
});

/**
 * A data key store that was restored from a copy lacks keys. What they sealed cannot be read, and nothing else is lost:
 * payments go on, everything else works, and with the newer data key store all of it is back. The data key store fails
 * while the platform's own store works.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Entry, StoreFailure } from "../../../../src/base/store/store.ts";
import { caseIdOf, dataKeyKey } from "../../../../src/platform/evidence/data_keys/case_keys.ts";
import { storeCopyKey } from "../../../../src/base/store/copy_mark.ts";
import { toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good } from "testing/flows.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { down, history, later, outboxOrder, paid, payment, report } from "support/orders.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { elapse, grow, openRetaining, settled } from "support/retention.ts";
import { erase } from "support/personal_case.ts";

/** Takes the keys of these cases out of the data key store, as a copy from before them would lack them. */
async function loseKeys(
  { vault }: Environment,
  ...ids: readonly string[]
): Promise<readonly Entry<unknown>[]> {
  const keys = ids.map((id) => dataKeyKey(caseIdOf(id) ?? ""));
  const lost = (await vault.getMany<unknown>(keys)).filter((entry) => entry !== null);
  await vault.commit({ checks: [], writes: keys.map((key) => ({ kind: "delete", key })) });
  return lost;
}

/** Marks the data key store as a copy, as `deno task store backup` does, and starts the platform on it. */
async function startOnCopy(env: Environment): Promise<void> {
  const value = { id: crypto.randomUUID(), takenAt: env.now };
  await env.vault.commit({ checks: [], writes: [{ kind: "set", key: storeCopyKey, value }] });
  env.logged.length = 0;
  await env.restart();
}

/** The newer data key store takes the place of the copy. */
async function startOnNewer(env: Environment, lost: readonly Entry<unknown>[]): Promise<void> {
  await env.vault.commit({ checks: [], writes: lost.map(({ key, value }) => ({ kind: "set", key, value })) });
  await env.restart();
}

const lostCases = ({ logged }: Environment): readonly unknown[] =>
  logged.map((line) => JSON.parse(line) as { event: string; caseId?: string })
    .filter(({ event }) => event === "data_keys.lost").map(({ caseId }) => caseId);

Deno.test("a case whose data key is lost is 503, nothing else stops, and it is back with its key [P3]", async () => {
  await using env = await openRetaining();
  const kept = await settled(env);
  const lost = await toBank(env);
  const keys = await loseKeys(env, lost.consentId);
  await startOnCopy(env);
  const read = async (path: string): Promise<number> => {
    const token = await clientToken(env, env.tpp);
    return (await call(env, env.tpp, token, `/BANKA/domestic-payment-consents/v1${path}`)).status;
  };
  assertEquals([await read(`/${lost.consentId}`), await read(`/${kept.consentId}`)], [503, 200]);
  assertEquals(await read(""), 200);
  await elapse(env, 90_000_000);
  for (const job of ["sweepConsents", "retireCases", "eraseConsents"] as const) {
    await env.platform[job]();
  }
  assertEquals(await history(env, lost.consentId).then((all) => all.at(-1)), "consent.Rejected by clock");
  assertEquals(lostCases(env), [caseIdOf(lost.consentId)], "told once");
  await startOnNewer(env, keys);
  assertEquals([await read(`/${lost.consentId}`), await read(`/${kept.consentId}`)], [200, 200]);
});

Deno.test("the store's copy may be younger than the one of the data keys: the platform starts [P3, G9]", async () => {
  await using env = await openBookEnvironment();
  const lost = await toBank(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId: late } = await paid(env);
  await loseKeys(env, lost.consentId, late);
  await assertRejects(() => restore(env, copy), Error, "deno task store restored");
  await startOnCopy(env);
  assertEquals(lostCases(env), [caseIdOf(lost.consentId)]);
  const [status, { Data }] = await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals([status, Data.State, Data.Recovered], [200, "released", 1], JSON.stringify(Data));
});

Deno.test("an order whose data key is lost is given up without a push, and can be tried again with the key [P3, O3]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  const keys = await loseKeys(env, id);
  await startOnCopy(env);
  env.answer = takes;
  env.pushes.length = 0;
  for (let times = 0; times < 5; times++) await later(env, 5_000);
  const order = await outboxOrder(env, id);
  assertEquals([order?.state, order?.lastFailure], ["dead", "the key of its personal data is lost"]);
  assertEquals(env.pushes.length, 0);
  await startOnNewer(env, keys);
  await good(env.asOperator(`/operations/payment-orders/${id}/redrive`, { method: "POST" }), 202);
  for (let times = 0; times < 5; times++) await later(env, 5_000);
  assertEquals((await payment(env, id)).Status, "AcceptedSettlementInProcess");
});

Deno.test("a bank reports the status of a payment whose data key is lost, or states it [P3, D3, G9]", async () => {
  await using env = await openBookEnvironment();
  const [{ DomesticPaymentId: one }, { DomesticPaymentId: two }] = [await paid(env), await paid(env)];
  const copy = await copyOf(env);
  const keys = await loseKeys(env, one, two);
  await startOnCopy(env);
  assertEquals(
    (await report(env, one, "AcceptedSettlementCompleted")).status,
    503,
    "recorded, and not described",
  );
  const last = `payment.AcceptedSettlementCompleted by ${env.bankA.clientId}`;
  assertEquals((await history(env, one)).at(-1), last);
  for (const booked of env.books.orders.values()) booked.status = "AcceptedSettlementCompleted";
  await restore(env, copy);
  const [status, { Data }] = await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals([status, Data.State, Data.Updated], [200, "released", 2], JSON.stringify(Data));
  await startOnNewer(env, keys);
  assertEquals((await payment(env, one)).Status, "AcceptedSettlementCompleted");
  assertEquals((await payment(env, two)).Status, "AcceptedSettlementCompleted");
});

const FULL = "database or disk is full";
/** More than a process has data keys in advance. */
const MANY = 70;

Deno.test("a failing data key store is 503 with Retry-After, seen by readiness, and heals [P3]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { paymentId } = await settled(env);
  await grow(env);
  await elapse(env, 90_000_000);
  const create = async (): Promise<Response> => {
    const token = await clientToken(env, env.tpp);
    const body = JSON.stringify(consentBody());
    return await call(env, env.tpp, token, "/BANKA/domestic-payment-consents/v1", { method: "POST", body });
  };
  const { commit } = env.vault;
  Object.assign(env.vault, { commit: () => Promise.reject(new StoreFailure(FULL)) });
  let answer = await create();
  for (let times = 0; times < MANY && answer.status === 201; times++) answer = await create();
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "5"]);
  assertEquals((await erase(env, paymentId)).status, 503);
  assertEquals((await env.platform.readiness()).ready, false);
  const told = (event: string): boolean => env.logged.some((line) => line.includes(`"event":"${event}"`));
  assert(told("data_keys.store_failing"));
  Object.assign(env.vault, { commit });
  for (let times = 0; times < 3; times++) {
    env.now += 6000;
    await env.platform.readiness();
  }
  assertEquals((await env.platform.readiness()).ready, true);
  assert(told("data_keys.store_working") && !told("store.failing"));
  assertEquals((await create()).status, 201);
  assertEquals(await env.platform.finishErasures(), 1);
});

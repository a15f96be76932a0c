/** While a bank is held after a restore, its cases may turn out to be paid: nothing of them is lost meanwhile. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import type { OperationError } from "testing/operation_answers.ts";
import { type BookEnvironment, openBookEnvironment } from "support/bank_books.ts";
import { paid } from "support/orders.ts";
import { erase } from "support/personal_case.ts";
import { type Copy, copyOf, restore } from "support/restored_store.ts";
import { elapse, grow, settled } from "support/retention.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { call, clientToken, consentBody, DEBTOR_ACCOUNT, dpopKey, pay } from "testing/flows.ts";
import { register } from "testing/participants.ts";

const RECONCILE = "/operations/order-holds/BANKA/reconcile";
const DAY_MS = 86_400_000;

/** Lets the platform run for so many days, with its background work. */
async function days(env: BookEnvironment, count: number): Promise<void> {
  for (let day = 0; day < count; day++) {
    await elapse(env, DAY_MS);
    await env.platform.sweepConsents();
    await env.platform.eraseConsents();
    await env.platform.finishErasures();
  }
}

/** A consent that awaits the customer in the copy, and is paid after it. */
async function paidAfterCopy(env: BookEnvironment): Promise<Copy> {
  const body = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });
  const flow = await toBank(env, { body });
  const copy = await copyOf(env);
  const code = codeOf(await authorise(env, flow));
  const { access_token: token } = await (await redeem(env, { consentId: flow.consentId, code }))
    .json() as { access_token: string };
  assertEquals((await pay(env, { ...flow, body, payment: { token, key: await dpopKey() } })).status, 201);
  return copy;
}

Deno.test("an unpaid consent of a held bank is not forgotten, and its payment is recovered [G9, EN10]", async () => {
  await using env = await openBookEnvironment();
  const copy = await paidAfterCopy(env);
  await restore(env, copy);
  await days(env, 40);
  const [status, { Data }] = await env.operate(RECONCILE, "");
  assertEquals([status, Data.State, Data.Recovered], [200, "released", 1], JSON.stringify(Data));
});

Deno.test("a case of a held bank is not erased [G9, EN11]", async () => {
  await using env = await openBookEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { paymentId } = await settled(env);
  await grow(env);
  const booked = env.books.orders.get(paymentId);
  if (booked !== undefined) booked.status = "AcceptedSettlementCompleted";
  await restore(env, await copyOf(env));
  await elapse(env, 90_000_000);
  const rejected = await erase(env, paymentId);
  assertEquals([rejected.status, (await bodyOf<OperationError>(rejected)).error], [409, "case_open"]);
  await env.operate(RECONCILE, "");
  assertEquals((await erase(env, paymentId)).status, 200);
});

/** Takes the bank's registration out of a copy. */
function beforeRegistration({ entries, takenAt }: Copy, { bankA }: BookEnvironment): Copy {
  const names = [bankA.clientId, "BANKA"];
  const isOfBank = ([record = "", ...parts]: readonly string[]): boolean =>
    ["bank", "client", "software_statement"].includes(record) &&
    parts.some((part) => names.includes(part));
  return { takenAt, entries: entries.filter(({ key }) => !isOfBank(key)) };
}

Deno.test("a bank that registers again after a restore is held, so that no customer pays twice [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = beforeRegistration(await copyOf(env), env);
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, copy);
  assertEquals((await register(env, env.bankA)).status, 201);
  await assertRejects(() => clientToken(env, env.tpp), Error, "got 503");
  const [status, { Data }] = await env.operate(RECONCILE, "");
  assertEquals([status, Data.State, Data.Recovered], [200, "released", 1], JSON.stringify(Data));
  const token = await clientToken(env, env.tpp);
  assertEquals((await call(env, env.tpp, token, `/BANKA/domestic-payments/v1/${id}`)).status, 200);
});

Deno.test("a bank that was away since an earlier restore is compared since that one's copy [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = beforeRegistration(await copyOf(env), env);
  env.now += 2 * DAY_MS;
  await paid(env);
  env.now += DAY_MS;
  await restore(env, copy);
  env.now += DAY_MS;
  await restore(env, await copyOf(env));
  assertEquals((await register(env, env.bankA)).status, 201);
  const hold = await env.store.get<{ readonly since: number }>(["order_hold", "BANKA"]);
  assert((hold?.value.since ?? Infinity) <= copy.takenAt);
});

Deno.test("a bank that registers long after a restore is not held [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = beforeRegistration(await copyOf(env), env);
  await restore(env, copy);
  env.now += 31 * DAY_MS;
  assertEquals((await register(env, env.bankA)).status, 201);
  assertEquals((await pay(env, await authorised(env))).status, 201);
});

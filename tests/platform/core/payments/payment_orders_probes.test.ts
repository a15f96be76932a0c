import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import type { PaymentOrder } from "testing/answers.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { leavesForBank, pushed } from "support/departures.ts";
import {
  accepts,
  down,
  later,
  openPushEnvironment,
  orderIdOf,
  paid,
  type Push,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";
import { testWith } from "support/environment_test.ts";
import { onboard, type Participant } from "testing/participants.ts";
import type { Environment } from "testing/environment.ts";
import { as, timesOut } from "./poisoned.ts";

const test = testWith(() => openPushEnvironment());

/** A consent that a customer has agreed to, and whose it is. */
type Agreement = Awaited<ReturnType<typeof authorised>> & { readonly tpp: Participant };

function thirdTpp(env: Environment): Promise<Participant> {
  const redirectUris = ["https://third.example/callback"];
  return onboard(env, { name: "Third Shop Ltd", role: "PISP", keys: [10, 11], redirectUris });
}

async function agreements(
  env: PushEnvironment,
  tpp: Participant,
  count: number,
): Promise<readonly [Agreement, ...Agreement[]]> {
  const agree = async (): Promise<Agreement> => ({ ...await authorised(as(env, tpp)), tpp });
  const made: [Agreement, ...Agreement[]] = [await agree()];
  while (made.length < count) made.push(await agree());
  return made;
}

async function sendsCustomers(env: PushEnvironment, tpp: Participant): Promise<boolean> {
  return await leavesForBank(as(env, tpp), await pushed(as(env, tpp), "BANKA"));
}

function consentIdOf({ body }: Push): string {
  return decodeJwt<PaymentOrder>(body).Data.ConsentId;
}

test("One TPP's orders that fail close the bank to its own customers alone, whatever it sends [D4]", async ({ env }) => {
  const theirs = { ...env, tpp: env.otherTpp };
  const last = await authorised(theirs);
  const flows = [await authorised(theirs)];
  while (flows.length < 7) flows.push(await authorised(theirs));
  const [first, second] = [await authorised(env), await authorised(env)];
  const ofThem = new Set([last, ...flows].map(({ consentId }) => consentId));
  env.answer = (push: Push) => ofThem.has(consentIdOf(push)) ? timesOut() : accepts(push);
  for (const flow of flows) await good(pay(theirs, flow), 201);
  assertEquals(env.pushes.length, 5);
  assertEquals(await leavesForBank(theirs, await pushed(theirs, "BANKA")), false);
  assertEquals(await leavesForBank(env, await pushed(env, "BANKA")), true);
  // Another TPP's payment is not put off either, and its success ends the pause.
  assertEquals((await good(pay(env, first), 201)).Data.Status, "AcceptedSettlementInProcess");
  assertEquals(await leavesForBank(theirs, await pushed(theirs, "BANKA")), true);
  await good(pay(theirs, last), 201);
  assertEquals((await good(pay(env, second), 201)).Data.Status, "AcceptedSettlementInProcess");
});

test("One TPP's queue of orders that fail and one failure of another TPP keep no third TPP waiting [D4]", async ({ env }) => {
  const third = await thirdTpp(env);
  const queue = await agreements(env, env.otherTpp, 12);
  const [failing] = await agreements(env, env.tpp, 1);
  const [agreed] = await agreements(env, third, 1);
  env.answer = (push: Push) => consentIdOf(push) === agreed.consentId ? accepts(push) : down();
  for (const flow of queue) await good(pay(as(env, env.otherTpp), flow), 201);
  await good(pay(as(env, env.tpp), failing), 201);
  assertEquals(env.pushes.length, 6);
  for (let pause = 0; pause < 4; pause++) {
    assertEquals(await sendsCustomers(env, env.otherTpp), false);
    assertEquals([await sendsCustomers(env, env.tpp), await sendsCustomers(env, third)], [true, true]);
    await later(env, 30_000); // the next order of the queue fails, and begins the next pause
  }
  const tried = new Set(env.pushes.map(consentIdOf));
  assertEquals(queue.filter(({ consentId }) => tried.has(consentId)).length, 9); // five, and one after each pause
  const paidByThird = await good(pay(as(env, third), agreed), 201);
  assertEquals(paidByThird.Data.Status, "AcceptedSettlementInProcess");
});

test("A bank that fails five orders of each of two TPPs is spared by all, and each TPP tries one order a pause [D4]", async ({ env }) => {
  const third = await thirdTpp(env);
  const tpps = [env.otherTpp, env.tpp, third];
  const queues: (readonly Agreement[])[] = [];
  for (const tpp of tpps) queues.push(await agreements(env, tpp, tpp === third ? 4 : 8));
  const firstPushes = (): readonly number[] => {
    const tried = new Set(env.pushes.map(consentIdOf));
    return queues.map((queue) => queue.filter(({ consentId }) => tried.has(consentId)).length);
  };
  env.answer = down;
  for (const flow of queues.flat()) await good(pay(as(env, flow.tpp), flow), 201);
  assertEquals(firstPushes(), [5, 5, 1]);
  for (const tpp of tpps) assertEquals(await sendsCustomers(env, tpp), false);
  await later(env, 29_999);
  assertEquals(firstPushes(), [5, 5, 1]);
  await later(env, 1);
  assertEquals(firstPushes(), [6, 6, 2]);
  for (const tpp of tpps) assertEquals(await sendsCustomers(env, tpp), false);
  env.answer = accepts;
  await later(env, 30_000); // one answer ends the pause of every TPP
  for (const tpp of tpps) assertEquals(await sendsCustomers(env, tpp), true);
});

test("A probe is an order that has not failed before, so that poisoned ones keep no other waiting [D4]", async ({ env }) => {
  const flows = [];
  for (let made = 0; made < 7; made++) flows.push(await authorised(env));
  const poisoned = new Set<string>();
  let isPoison = true;
  env.answer = (push: Push) => {
    const id = orderIdOf(push);
    if (isPoison) poisoned.add(id);
    return poisoned.has(id) ? timesOut() : accepts(push);
  };
  const ids: string[] = [];
  for (const flow of flows.slice(0, 5)) ids.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
  isPoison = false;
  // Five orders in a row have failed: the next two wait.
  const waiting: string[] = [];
  for (const flow of flows.slice(5)) waiting.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
  assertEquals(env.pushes.length, 5);
  env.now += 30_000;
  await env.platform.deliverDueOrders();
  await later(env, 6000); // the second has waited for what the first found
  for (const id of waiting) assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  for (const id of ids) assertEquals(await statusOf(env, id), "Pending");
  await later(env, 1000);
  assertEquals((await paid(env)).Status, "AcceptedSettlementInProcess");
});

Deno.test("A poisoned order that is tried again and again between others that succeed delays none of them [D4]", async () => {
  await using env = await openPushEnvironment(timesOut);
  for (let made = 0; made < 4; made++) await paid(env);
  env.answer = accepts;
  await paid(env);
  const poisoned = new Set(env.pushes.slice(0, 4).map(orderIdOf));
  env.answer = (push) => poisoned.has(orderIdOf(push)) ? timesOut() : accepts(push);
  for (let second = 0; second < 300; second++) {
    await later(env, 1000);
    if (second % 30 === 0) assertEquals((await paid(env)).Status, "AcceptedSettlementInProcess");
  }
});

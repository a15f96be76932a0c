/** Orders that fail for themselves alone, and what they must not do to a bank's other customers [D4]. */
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { good, type Json, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { leavesForBank, pushed } from "support/departures.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxOrder,
  paid,
  type Push,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";
import { onboard, type Participant } from "testing/participants.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const OPERATOR_TOKEN = "an-operators-token-0123456789-abcdefghij";

async function deadOrders(env: Environment): Promise<Json> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const url = `${BASE_URL}/operations/payment-orders?state=dead`;
  return await (await env.platform.api.fetch(new Request(url, { headers }))).json();
}

/** A consent that a customer has agreed to, and whose it is. */
type Agreement = Awaited<ReturnType<typeof authorised>> & { readonly tpp: Participant };

/** Makes the platform's push time out without a real wait. */
function timesOut(): Promise<Response> {
  return Promise.reject(new DOMException("The signal timed out", "TimeoutError"));
}

function thirdTpp(env: Environment): Promise<Participant> {
  const redirectUris = ["https://third.example/callback"];
  return onboard(env, { name: "Third Shop Ltd", role: "PISP", keys: [10, 11], redirectUris });
}

/** The same environment, with this TPP as the one that acts. */
function as(env: PushEnvironment, tpp: Participant): PushEnvironment {
  return Object.assign(Object.create(env), { tpp });
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
  return (decodeJwt(body) as Json).Data.ConsentId;
}

function rejects(): Response {
  return Response.json({ error: "invalid_order" }, { status: 400 });
}

/** The bank's response, and the fields that the operator reads of it. */
const rejected: Record<string, readonly [Response, string, string | undefined]> = {
  "with a JSON body": [rejects(), "status 400", '{"error":"invalid_order"}'],
  "without a body": [new Response(null, { status: 404 }), "status 404", undefined],
  "with a Status, which counts in a 200 alone": [
    Response.json({ Status: "Rejected" }, { status: 422 }),
    "status 422",
    '{"Status":"Rejected"}',
  ],
  "with control and direction marks": [
    new Response("a\u001b[2J\n\u202eb\u2028", { status: 403 }),
    "status 403",
    "a\\u{1b}[2J\\u{a}\\u{202e}b\\u{2028}",
  ],
  "with a long text": [new Response("é".repeat(300), { status: 409 }), "status 409", `${"é".repeat(255)}…`],
  "with more than 16 KiB": [new Response("x".repeat(20_000), { status: 400 }), "status 400", undefined],
  "with bytes that are not UTF-8": [
    new Response(new Uint8Array([0xff, 0xfe]), { status: 400 }),
    "status 400",
    undefined,
  ],
};

Deno.test("An order that the bank answers with a 4xx is dead at once, and the operator sees why [D4]", async (t) => {
  await steps(t, rejected, async ([answer, why, text]) => {
    await using env = await openPushEnvironment(() => answer, { environment: { OPERATOR_TOKEN } });
    const { DomesticPaymentId: id, Status } = await paid(env);
    assertEquals(Status, "Pending");
    const [listed] = (await deadOrders(env)).Data.PaymentOrder;
    assertEquals([listed.DomesticPaymentId, listed.PushFailures], [id, 1]);
    assertEquals([listed.LastFailure, listed.BankText], [why, text]);
    const dead = env.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === "order.dead");
    assertEquals(dead.map(({ level, paymentId, why }) => [level, paymentId, why]), [["error", id, why]]);
    if (text !== undefined) assertEquals(env.logged.some((line) => line.includes(text)), false);
    assertEquals(await later(env, 3_600_000), 0);
    assertEquals(env.pushes.length, 1);
  });
});

const patient: Record<string, readonly [number, string | undefined, number]> = {
  "408 in 40 seconds": [408, "40", 40_000],
  "425 in 40 seconds": [425, "40", 40_000],
  "429 in 40 seconds": [429, "40", 40_000],
  "503 in 40 seconds": [503, "40", 40_000],
  "429 at a date": [429, "Sun, 15 Jan 2040 12:00:40 GMT", 40_000],
  "429 in a day, of which the platform waits 512 s": [429, "86400", 512_000],
  "503 at a date in a year": [503, "Tue, 15 Jan 2041 12:00:00 GMT", 512_000],
  "429 in more seconds than a number holds": [429, "9".repeat(400), 512_000],
  "429 in less than no time": [429, "-40", 1000],
  "429 at a date in the past": [429, "Sun, 15 Jan 2039 12:00:40 GMT", 1000],
  "429 with an unreadable Retry-After": [429, "soon", 1000],
  "429 without one": [429, undefined, 1000],
};

Deno.test("An order waits as long as the bank asks for, within bounds, and is pushed again [D4]", async (t) => {
  await steps(t, patient, async ([status, retryAfter, milliseconds]) => {
    const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
    await using env = await openPushEnvironment(() =>
      new Response(null, { status, ...(headers && { headers }) })
    );
    const { DomesticPaymentId: id } = await paid(env);
    const wait = ((await outboxOrder(env, id))?.dueAt ?? NaN) - env.now;
    assert(wait >= milliseconds && wait <= milliseconds * 1.25, `${wait} ms`);
    env.answer = accepts;
    assertEquals([await later(env, wait - 1), await later(env, 1)], [0, 1]);
    assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  });
});

Deno.test("A bank that can be reached keeps its customers, whatever it answers to orders [D4]", async (t) => {
  const answers: Record<string, () => Response> = {
    "429": () => new Response(null, { status: 429 }),
    "a redirect": () => new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
    "a page": () => new Response("<html>OK</html>"),
    "bytes that are not UTF-8": () => new Response(new Uint8Array([0xff, 0xfe])),
  };
  await steps(t, answers, async (answer) => {
    await using env = await openPushEnvironment(answer);
    const link = await pushed(env, "BANKA");
    for (let made = 0; made < 6; made++) await paid(env);
    assertEquals([env.pushes.length, await leavesForBank(env, link)], [6, true]);
  });
});

Deno.test("Five orders that the bank answers with 400 are given up at once and reject no other payment [D4]", async () => {
  await using env = await openPushEnvironment(rejects);
  const link = await pushed(env, "BANKA");
  const ids: string[] = [];
  for (let made = 0; made < 5; made++) ids.push((await paid(env)).DomesticPaymentId);
  for (const id of ids) {
    assertEquals((await outboxOrder(env, id))?.dead, true);
    assertEquals(await statusOf(env, id), "Pending"); // the bank has not said Rejected
    assertEquals((await history(env, id)).slice(1), ["payment_order.dead by platform"]);
  }
  assertEquals(await leavesForBank(env, link), true);
  env.answer = accepts;
  assertEquals((await paid(env)).Status, "AcceptedSettlementInProcess");
  assertEquals(env.pushes.length, 6);
});

Deno.test("Orders that always time out turn customers away for 30 s at most, however long they are tried [D4]", async () => {
  await using env = await openPushEnvironment(timesOut);
  const poisoned: string[] = [];
  for (let made = 0; made < 5; made++) poisoned.push((await paid(env)).DomesticPaymentId);
  let turnedAway = 0;
  for (let second = 0; second < 600; second += 10) {
    if (!await leavesForBank(env, await pushed(env, "BANKA"))) turnedAway += 10;
    await later(env, 5000);
    await later(env, 5000);
  }
  assert(turnedAway > 0 && turnedAway <= 30, `customers were turned away for ${turnedAway} s of 600`);
  for (let second = 600; second < 3600; second += 5) await later(env, 5000);
  for (const id of poisoned) assertEquals((await outboxOrder(env, id))?.dead, true); // each was tried to its end
});

Deno.test("One TPP's orders that fail close the bank to its own customers alone, whatever it sends [D4]", async () => {
  await using env = await openPushEnvironment();
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

Deno.test("One TPP's queue of orders that fail and one failure of another TPP keep no third TPP waiting [D4]", async () => {
  await using env = await openPushEnvironment();
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

Deno.test("A bank that fails five orders of each of two TPPs is spared by all, and each TPP tries one order a pause [D4]", async () => {
  await using env = await openPushEnvironment();
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

Deno.test("A probe is an order that has not failed before, so that poisoned ones keep no other waiting [D4]", async () => {
  await using env = await openPushEnvironment();
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
  for (const flow of flows.slice(5)) {
    waiting.push((await good(pay(env, flow), 201)).Data.DomesticPaymentId);
  }
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

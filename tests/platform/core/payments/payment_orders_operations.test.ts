/**
 * The operator's view of orders that were given up, and the way to have one tried again. Orders that fail for
 * themselves alone, and what they must not do to a bank's other customers [D4].
 */
import { assert, assertEquals } from "@std/assert";
import { wireDateTime } from "../../../../src/base/kernel/clock.ts";
import type { BankCode, PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { outboxQueueKey } from "../../../../src/platform/config/store_keys.ts";
import {
  accepts,
  dueAtOf,
  history,
  later,
  openPushEnvironment,
  outboxOrder,
  paid,
  statusOf,
  UNKNOWN,
} from "support/orders.ts";
import { bodyOf, type LogLine, rejectionOf } from "testing/answers.ts";
import type { OpenOrders } from "testing/operation_answers.ts";
import { giveUp, LIST, openOperated, operate, redriveOf } from "./operated.ts";
import { leavesForBank, pushed } from "support/departures.ts";
import type { Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";
import { timesOut } from "./poisoned.ts";

const test = testWith(() => openOperated());

test("GET operations/payment-orders lists the orders that were given up, and only those", async ({ env }) => {
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  await paid(env);
  const answer = await operate(env, LIST);
  assertEquals([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
  const order = await outboxOrder(env, dead);
  const diedAt = order?.state === "dead" ? order.diedAt : NaN;
  assertEquals(await answer.json(), {
    Data: {
      PaymentOrder: [{
        DomesticPaymentId: dead,
        BankId: "BANKA",
        ClientId: env.tpp.clientId,
        Tpp: "Example Shop Ltd · Example Shop Ltd app",
        State: "dead",
        PushFailures: 11,
        LastFailure: "status 503",
        MayBeAtBank: true,
        GivenUpDateTime: new Date(diedAt).toISOString().replace(/\.\d{3}Z$/, "+00:00"),
        CreationDateTime: "2040-01-15T12:00:00+00:00",
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
      }],
    },
  });
});

test("GET operations/payment-orders pages by After", async ({ env }) => {
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  const [order, payment] = await env.store.getMany<object>([["outbox", dead], ["payment", dead]]);
  for (let copy = 0; copy < 100; copy++) {
    const id = crypto.randomUUID();
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value: { ...order?.value, paymentId: id } },
        { kind: "set", key: ["outbox_dead", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = (await bodyOf<OpenOrders>(operate(env, LIST))).Data;
  const second = (await bodyOf<OpenOrders>(operate(env, `${LIST}&after=${first.After}`))).Data;
  const ids = [...first.PaymentOrder, ...second.PaymentOrder].map((listed) => listed.DomesticPaymentId);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 1, undefined]);
  assertEquals([new Set(ids).size, ids.includes(dead)], [101, true]);
  // An order of a full page has been redriven since its index was read.
  const redriven = ids[3] ?? "";
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["outbox", redriven] }] });
  const shorter = (await bodyOf<OpenOrders>(operate(env, LIST))).Data;
  assertEquals([shorter.PaymentOrder.length, shorter.After], [99, first.After]);
});

const WAITING = "/operations/payment-orders?state=waiting";

test("an order that fails is seen while it is tried: its failures, why, and the next push [OP22]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const listed = async (query = ""): Promise<OpenOrders["Data"]["PaymentOrder"]> =>
    (await bodyOf<OpenOrders>(operate(env, `${WAITING}${query}`))).Data.PaymentOrder;
  const order = await outboxOrder(env, id);
  assertEquals(await listed(), [{
    DomesticPaymentId: id,
    BankId: "BANKA",
    ClientId: env.tpp.clientId,
    Tpp: "Example Shop Ltd · Example Shop Ltd app",
    State: "waiting",
    PushFailures: 1,
    LastFailure: "status 503",
    MayBeAtBank: true,
    NextPushDateTime: wireDateTime(order?.state === "waiting" ? order.dueAt : NaN),
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    InstructedAmount: { Amount: "165.88", Currency: "EUR" },
  }]);
  assertEquals((await listed("&bank=BANKA")).length, 1);
  assertEquals(await listed("&bank=BANKB"), []);
  await later(env, 5_000);
  assertEquals((await listed()).map(({ PushFailures }) => PushFailures), [2]);
  env.answer = accepts;
  await later(env, 30_000);
  assertEquals(await listed(), []);
});

test("waiting orders page by bank and next push, of one bank alone, and never twice [OP22]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const [order, payment] = await env.store.getMany<object>([["outbox", id], ["payment", id]]);
  const dueAt = env.now + 60_000;
  for (const bank of ["BANKA", "BANKB"]) {
    for (let copy = 0; copy < 100; copy++) {
      const paymentId = crypto.randomUUID();
      await env.store.commit({
        checks: [],
        writes: [
          { kind: "set", key: ["outbox", paymentId], value: { ...order?.value, paymentId, bank, dueAt } },
          {
            kind: "set",
            key: outboxQueueKey(bank as BankCode, dueAt, paymentId as PaymentId),
            value: paymentId,
          },
          { kind: "set", key: ["payment", paymentId], value: { ...payment?.value, id: paymentId, bank } },
        ],
      });
    }
  }
  const walk = async (query: string): Promise<readonly string[]> => {
    const found: string[] = [];
    let after = "";
    do {
      const { Data } = await bodyOf<OpenOrders>(operate(env, `${WAITING}${query}${after}`));
      found.push(
        ...Data.PaymentOrder.map(({ BankId, DomesticPaymentId }) => `${BankId} ${DomesticPaymentId}`),
      );
      after = Data.After === undefined ? "" : `&after=${Data.After}`;
    } while (after !== "");
    return found;
  };
  const all = await walk("");
  assertEquals([all.length, new Set(all).size], [201, 201]);
  assertEquals(all.map((one) => one.slice(0, 5)), all.map((one) => one.slice(0, 5)).toSorted(), "by bank");
  assertEquals(await walk("&bank=BANKB"), all.slice(101));
  const { Data: { After = "" } } = await bodyOf<OpenOrders>(operate(env, `${WAITING}&bank=BANKA`));
  for (const query of ["&bank=", "&bank=bank%20a", `&bank=BANKB&after=${After}`]) {
    assertEquals(
      (await rejectionOf(await operate(env, `${WAITING}${query}`))).error,
      "invalid_request",
      query,
    );
  }
  const [at, list] = ["0".repeat(15), LIST.replace("dead", "STATE")];
  const places = {
    dead: [[id], ["x", `${id}@BANKA`, ""]],
    held: [[`${id}@BANKA`, `${id}@BANKA&bank=BANKA`], [
      ...[id, "x@BANKA", `${id}@b%20a`, `${id}@BANKA&bank=BANKB`, `${id}@${at}@BANKA`],
    ]],
    waiting: [[`${id}@${at}@BANKA`, `${id}@${at}@BANKA&bank=BANKA`], [
      ...[id, `${id}@BANKA`, `x@${at}@BANKA`, `${id}@${at}0@BANKA`, `${id}@0x@BANKA`, `${id}@${at}@b%20a`],
      ...[`${id}@${at}@BANKA&bank=BANKB`, `${id}@${at}@BANKA@BANKA`, "@@"],
    ]],
  } as const;
  for (const [state, [good, bad]] of Object.entries(places)) {
    for (const after of [...good, ...bad]) {
      const { status } = await operate(env, `${list.replace("STATE", state)}&after=${after}`);
      assertEquals(status, good.some((one) => one === after) ? 200 : 400, `${state} ${after}`);
    }
  }
  const ofDead = await operate(env, `${LIST}&bank=BANKA`);
  assertEquals((await rejectionOf(ofDead)).error, "invalid_request", "the list of dead orders has no banks");
});

test("POST redrive has the order tried again, with every retry before it, and tells who wanted it", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const redriven = await operate(env, redriveOf(id));
  assertEquals([redriven.status, await redriven.json()], [202, {
    Data: { DomesticPaymentId: id, State: "due" },
  }]);
  assertEquals((await bodyOf<OpenOrders>(operate(env, LIST))).Data.PaymentOrder, []);
  assertEquals((await outboxOrder(env, id))?.failures, 0);
  assertEquals(await later(env, 0), 1); // fails again
  assertEquals((await outboxOrder(env, id))?.state, "waiting");
  env.answer = accepts;
  await later(env, 30_000);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals((await history(env, id)).slice(1), [
    ...Array(10).fill(UNKNOWN),
    "payment_order.dead by platform",
    "payment_order.redriven by operator maria",
    UNKNOWN,
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

test("POST redrive of an order that is not given up is 409, of one that is not there 404, and changes nothing", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const before = await env.snapshot();
  const conflict = await operate(env, redriveOf(id));
  assertEquals([conflict.status, (await rejectionOf(conflict)).error], [409, "conflict"]);
  for (const unknown of [crypto.randomUUID(), "x", "..%2f", `${id}0`]) {
    const answer = await operate(env, redriveOf(unknown));
    assertEquals([answer.status, (await rejectionOf(answer)).error], [404, "not_found"]);
  }
  assertEquals(await env.snapshot(), before);
});

test("Of ten parallel redrives one succeeds", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const all = await Promise.all(Array.from({ length: 10 }, () => operate(env, redriveOf(id))));
  await Promise.all(all.map((answer) => answer.body?.cancel()));
  assertEquals(all.map(({ status }) => status).toSorted(), [202, ...Array(9).fill(409)]);
  assertEquals((await history(env, id)).filter((line) => line.includes("redriven")).length, 1);
});

async function deadOrders(env: Environment): Promise<OpenOrders> {
  return await bodyOf<OpenOrders>(env.asOperator("/operations/payment-orders?state=dead"));
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
    await using env = await openPushEnvironment(() => answer);
    const { DomesticPaymentId: id, Status } = await paid(env);
    assertEquals(Status, "Pending");
    const [listed] = (await deadOrders(env)).Data.PaymentOrder;
    assertEquals([listed?.DomesticPaymentId, listed?.PushFailures], [id, 1]);
    assertEquals([listed?.LastFailure, listed?.BankText], [why, text]);
    const dead = env.logged.map((line) => JSON.parse(line) as LogLine).filter(({ event }) =>
      event === "order.dead"
    );
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
    const wait = await dueAtOf(env, id) - env.now;
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
    assertEquals((await outboxOrder(env, id))?.state, "dead");
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
  for (const id of poisoned) assertEquals((await outboxOrder(env, id))?.state, "dead"); // each was tried to its end
});

import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import {
  afterFailure,
  type DeadOrder,
  type FailureContext,
  giveUpOrder,
  heldBack,
  isHeldForPush,
  isSameLease,
  type LeasedOrder,
  leaseOrder,
  openOrder,
  type PaymentOrder,
  type PushFailure,
  putOff,
  resumeOrder,
  retryOrder,
  type WaitingOrder,
} from "../../../../src/platform/core/payments/payment_order.ts";
import { mismatch } from "../../../../src/base/kernel/result.ts";
import { asBankCode, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";

const NOW = 1_900_000_000_000;
const ID = present(asPaymentId("0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const DOWN: PushFailure = { kind: "unreachable", why: "status 503" };
const { fault: FAULT } = mismatch("status", "200");
const context = (random = 0): FailureContext => ({ now: NOW, random: () => random, mayGiveUp: true });
const A = present(asBankCode("BANKA"));

Deno.test("openOrder is in its maker's hands for 15 s", () => {
  assertEquals(openOrder(ID, A, NOW), {
    state: "leased",
    paymentId: ID,
    bank: A,
    failures: 0,
    mayBeAtBank: false,
    dueAt: NOW + 15_000,
  });
});

Deno.test("afterFailure waits 1 to 512 s without jitter, a quarter more with all of it, then gives up [D4]", () => {
  for (const [random, factor] of [[0, 1], [1, 1.25], [0.5, 1.125]] as const) {
    let order = failedAgain(openOrder(ID, A, NOW), random);
    const waits: number[] = [];
    while (order.state === "waiting") {
      waits.push(order.dueAt - NOW);
      order = failedAgain(leaseOrder(order, NOW), random);
    }
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    assertEquals([waits, order.diedAt], [seconds.map((wait) => wait * 1000 * factor), NOW]);
    assertEquals([order.failures, order.lastFailure], [11, "status 503"]);
  }
});

Deno.test("afterFailure waits 512 s again if this process has not seen all waits pass [D4]", () => {
  for (const [failures, seconds] of [[8, 256], [9, 512], [10, 512], [30, 512]] as const) {
    const order = { ...openOrder(ID, A, NOW), failures };
    const again = afterFailure(order, DOWN, { ...context(), mayGiveUp: false });
    assertEquals([dueAtOf(again) - NOW, again.failures], [seconds * 1000, failures + 1]);
  }
});

Deno.test("afterFailure gives up at once if the bank rejected the order, and keeps what it wrote until the next push [D4]", () => {
  const rejected = { kind: "refused", why: "status 400", bankText: "no such account" } as const;
  const order = dead(afterFailure(openOrder(ID, A, NOW), rejected, context()));
  assertEquals([order.failures, order.diedAt, order.mayBeAtBank], [1, NOW, false]);
  assertEquals([order.lastFailure, order.bankText], ["status 400", "no such account"]);
  const again = failedAgain(leaseOrder(retryOrder(order, NOW), NOW));
  assertEquals([again.lastFailure, again.bankText], ["status 503", undefined]);
});

Deno.test("afterFailure waits as long as the bank asks for, but 512 s at most and never less than its own wait [D4]", () => {
  const first = openOrder(ID, A, NOW);
  const waitOf = (retryAfterSeconds: number, failures = 0, random = 0) =>
    dueAtOf(afterFailure(
      { ...first, failures },
      { kind: "unclear", why: "status 429", retryAfterSeconds },
      context(random),
    )) - NOW;
  assertEquals([waitOf(30), waitOf(30, 0, 1), waitOf(86_400), waitOf(0)], [30_000, 37_500, 512_000, 1000]);
  assertEquals([waitOf(3, 4), waitOf(30, 4)], [16_000, 30_000]);
});

Deno.test("leased and putOff count no failure and keep why the last one was", () => {
  const failed = waiting(failedAgain(openOrder(ID, A, NOW)));
  const lease = leaseOrder(failed, NOW + 5000);
  assertEquals<PaymentOrder>(lease, { ...failed, state: "leased", dueAt: NOW + 20_000 });
  assertEquals(putOff(lease, NOW + 20_000), { ...failed, dueAt: NOW + 20_000 });
});

Deno.test("redriven starts the waits from the first", () => {
  const last = dead(failedAgain({ ...openOrder(ID, A, NOW), failures: 10 }));
  const again = retryOrder(last, NOW + 1);
  assertEquals([again.state, again.failures, again.dueAt], ["waiting", 0, NOW + 1]);
  assertEquals(dueAtOf(failedAgain(leaseOrder(again, NOW))), NOW + 1000);
});

/** Each failure, and whether the bank may have the order after it. */
const MAY_BE_AT_BANK: readonly (readonly [PushFailure, boolean])[] = [
  [{ kind: "unsent", why: "no address" }, false],
  [{ kind: "refused", why: "status 400", answer: { status: 400, fault: FAULT } }, false],
  [{ kind: "refused", why: "status 409", answer: { status: 409, fault: FAULT } }, true],
  [{ kind: "unclear", why: "status 307" }, true],
  [{ kind: "unreachable", why: "TimeoutError" }, true],
];

Deno.test("an order may be at the bank after a push that the bank did not reject, and after a lease without a result [O3]", () => {
  for (const [failure, mayBe] of MAY_BE_AT_BANK) {
    const { mayBeAtBank } = afterFailure(openOrder(ID, A, NOW), failure, context());
    assertEquals(mayBeAtBank, mayBe, failure.why);
  }
  assertEquals(leaseOrder(openOrder(ID, A, NOW), NOW).mayBeAtBank, true, "the first worker crashed");
  const notPushed = putOff(openOrder(ID, A, NOW), NOW);
  assertEquals(leaseOrder(notPushed, NOW).mayBeAtBank, false);
});

Deno.test("an order that may be at the bank stays so in every move [O3]", () => {
  const once = waiting(failedAgain(openOrder(ID, A, NOW)));
  const lease = leaseOrder(once, NOW);
  const refused = { kind: "refused", why: "status 400" } as const;
  const rejected = dead(afterFailure(lease, refused, context()));
  const held = heldBack(lease, "held", NOW);
  const moves: Readonly<Record<string, PaymentOrder>> = {
    rejected,
    held,
    redriven: retryOrder(rejected, NOW),
    resumed: resumeOrder(held, NOW),
    "held too long": resumeOrder(held, NOW + 86_400_001),
    postponed: putOff(lease, NOW),
    unsent: afterFailure(lease, { kind: "unsent", why: "no address" }, context()),
    erased: giveUpOrder(lease, "erased", NOW),
  };
  for (const [move, { mayBeAtBank }] of Object.entries(moves)) assertEquals(mayBeAtBank, true, move);
});

Deno.test("a push begins only if it ends within the lease, to the millisecond [D1]", () => {
  const order = openOrder(ID, A, NOW);
  assertEquals([isHeldForPush(order, NOW + 10_000), isHeldForPush(order, NOW + 10_001)], [true, false]);
  assertEquals([isHeldForPush(order, NOW), isHeldForPush(order, NOW - 1)], [true, false], "put back");
});

Deno.test("a lease is the same with its end and its number of failures, and if it has not ended with a result [D1]", () => {
  const own = openOrder(ID, A, NOW);
  assertEquals(isSameLease({ ...own, mayBeAtBank: true }, own), true);
  const others: readonly PaymentOrder[] = [
    { ...own, dueAt: own.dueAt + 1 },
    { ...own, failures: 1 },
    putOff(own, own.dueAt),
    heldBack(own, "held", NOW),
    giveUpOrder(own, "erased", NOW),
  ];
  assertEquals(others.map((other) => isSameLease(other, own)), Array(5).fill(false));
});

Deno.test("a held order goes on for a day, to the millisecond [G5]", () => {
  const held = heldBack(openOrder(ID, A, NOW), "held", NOW);
  assertEquals(resumeOrder(held, NOW + 86_400_000), { ...putOff(openOrder(ID, A, NOW), NOW + 86_400_000) });
  const late = resumeOrder(held, NOW + 86_400_001);
  assertEquals([late.state, late.lastFailure], ["dead", "held for more than 24 h"]);
});

function failedAgain(order: LeasedOrder, random = 0): ReturnType<typeof afterFailure> {
  return afterFailure(order, DOWN, context(random));
}

function dueAtOf(order: PaymentOrder): number {
  return waiting(order).dueAt;
}

function waiting(order: PaymentOrder): WaitingOrder {
  if (order.state !== "waiting") throw new Error(`the order is ${order.state}`);
  return order;
}

function dead(order: PaymentOrder): DeadOrder {
  if (order.state !== "dead") throw new Error(`the order is ${order.state}`);
  return order;
}

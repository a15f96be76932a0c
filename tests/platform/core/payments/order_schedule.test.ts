import { assertEquals } from "@std/assert";
import {
  afterFailure,
  leased,
  openOrder,
  type PaymentOrder,
  type PushFailure,
  putOff,
  redriven,
} from "../../../../src/platform/core/payments/payment_order.ts";
import { asBankCode, asPaymentId } from "../../../../src/base/kernel/identifiers.ts";

const NOW = 1_900_000_000_000;
const ID = need(asPaymentId("0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const DOWN: PushFailure = { kind: "unreachable", why: "status 503" };
const A = need(asBankCode("BANKA"));

Deno.test("openOrder is in its maker's hands for 15 s", () => {
  assertEquals(openOrder(ID, A, NOW), {
    paymentId: ID,
    bank: A,
    failures: 0,
    dueAt: NOW + 15_000,
    dead: false,
  });
});

Deno.test("afterFailure waits 1 to 512 s without jitter, a quarter more with all of it, then gives up [D4]", () => {
  for (const [random, factor] of [[0, 1], [1, 1.25], [0.5, 1.125]] as const) {
    let order = openOrder(ID, A, NOW);
    const waits: number[] = [];
    while (!order.dead) {
      order = afterFailure(order, DOWN, NOW, () => random);
      waits.push(order.dueAt - NOW);
    }
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    assertEquals(waits, [...seconds.map((wait) => wait * 1000 * factor), 0]);
    assertEquals([order.failures, order.lastFailure], [11, "status 503"]);
  }
});

Deno.test("afterFailure gives up at once if the bank rejected the order, and keeps what it wrote until the next push [D4]", () => {
  const rejected = { kind: "refused", why: "status 400", bankText: "no such account" } as const;
  const order = afterFailure(openOrder(ID, A, NOW), rejected, NOW, () => 0);
  assertEquals([order.dead, order.failures, order.dueAt], [true, 1, NOW]);
  assertEquals([order.lastFailure, order.bankText], ["status 400", "no such account"]);
  const again = afterFailure(redriven(order, NOW), DOWN, NOW, () => 0);
  assertEquals([again.lastFailure, again.bankText], ["status 503", undefined]);
});

Deno.test("afterFailure waits as long as the bank asks for, but 512 s at most and never less than its own wait [D4]", () => {
  const first = openOrder(ID, A, NOW);
  const waitOf = (retryAfterSeconds: number, failures = 0, random = 0) =>
    afterFailure(
      { ...first, failures },
      { kind: "unclear", why: "status 429", retryAfterSeconds },
      NOW,
      () => random,
    ).dueAt - NOW;
  assertEquals([waitOf(30), waitOf(30, 0, 1), waitOf(86_400), waitOf(0)], [30_000, 37_500, 512_000, 1000]);
  assertEquals([waitOf(3, 4), waitOf(30, 4)], [16_000, 30_000]);
});

Deno.test("leased and putOff count no failure and keep why the last one was", () => {
  const failed = afterFailure(openOrder(ID, A, NOW), DOWN, NOW, () => 0);
  const expected: PaymentOrder = { ...failed, dueAt: NOW + 20_000 };
  assertEquals(leased(failed, NOW + 5000), expected);
  assertEquals(putOff(failed, NOW + 20_000), expected);
});

Deno.test("redriven starts the waits from the first", () => {
  const dead: PaymentOrder = {
    ...openOrder(ID, A, NOW),
    failures: 11,
    dead: true,
    lastFailure: "status 503",
  };
  const again = redriven(dead, NOW + 1);
  assertEquals([again.dead, again.failures, again.dueAt], [false, 0, NOW + 1]);
  assertEquals(afterFailure(again, DOWN, NOW, () => 0).dueAt, NOW + 1000);
});

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not an id");
  return value;
}

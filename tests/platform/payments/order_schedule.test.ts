import { assertEquals } from "@std/assert";
import { openBankCircuit } from "../../../src/platform/payments/bank_circuit.ts";
import {
  afterFailure,
  leased,
  openOrder,
  type PaymentOrder,
  type PushFailure,
  putOff,
  redriven,
} from "../../../src/platform/payments/payment_order.ts";
import { asBankCode, asClientId, asPaymentId } from "../../../src/base/kernel/identifiers.ts";

const NOW = 1_900_000_000_000;
const ID = need(asPaymentId("0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const DOWN: PushFailure = { kind: "unreachable", why: "status 503" };
const [A, B] = [need(asBankCode("BANKA")), need(asBankCode("BANKB"))];

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

const TPP = need(asClientId("SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const OTHER_TPP = need(asClientId("SC-1d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const THIRD_TPP = need(asClientId("SC-2d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));

/** An order at its first push, and one that has failed before. */
const [FIRST, AGAIN] = [{ bank: A, failures: 0, clientId: TPP }, { bank: A, failures: 3, clientId: TPP }];

Deno.test("BankCircuit opens at the fifth order in a row whose first push fails, for that bank alone", () => {
  const env = { now: NOW };
  const circuit = openBankCircuit(() => env.now);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  assertEquals(circuit.admit(FIRST), undefined);
  circuit.answered(A); // in a row: the count starts again
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  assertEquals([circuit.admit(FIRST), circuit.isOpen(A, TPP)], [undefined, false]);
  circuit.unreachable(FIRST);
  assertEquals([circuit.admit(FIRST), circuit.admit(AGAIN)], [NOW + 30_000, NOW + 30_000]);
  assertEquals([circuit.isOpen(A, TPP), circuit.isOpen(B, TPP)], [true, false]);
  assertEquals(circuit.admit({ ...FIRST, bank: B }), undefined);
});

Deno.test("BankCircuit does not count an order that has failed before, however often it fails again", () => {
  const circuit = openBankCircuit(() => NOW);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  for (let failures = 0; failures < 50; failures++) circuit.unreachable(AGAIN);
  assertEquals([circuit.isOpen(A, TPP), circuit.admit(FIRST)], [false, undefined]);
});

Deno.test("BankCircuit is open for one TPP alone until the orders of another have opened its own as well", () => {
  const env = { now: NOW };
  const circuit = openBankCircuit(() => env.now);
  const [other, third] = [{ ...FIRST, clientId: OTHER_TPP }, { ...FIRST, clientId: THIRD_TPP }];
  const open = (): boolean[] => [TPP, OTHER_TPP, THIRD_TPP].map((client) => circuit.isOpen(A, client));
  for (let failures = 0; failures < 9; failures++) circuit.unreachable(FIRST);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(other);
  assertEquals([open(), circuit.admit(FIRST)], [[true, false, false], NOW + 30_000]);
  assertEquals([circuit.admit(other), circuit.admit(third), circuit.admit(third)], Array(3).fill(undefined));
  circuit.unreachable(other);
  assertEquals([open(), circuit.admit(other)], [[true, true, true], NOW + 30_000]);
  // The third still has a probe of its own, and a pause of its own if that fails.
  env.now += 1000;
  assertEquals([circuit.admit(third), circuit.admit(third)], [undefined, env.now + 6000]);
  circuit.unreachable(third);
  assertEquals([circuit.admit(third), circuit.admit(other)], [env.now + 30_000, NOW + 30_000]);
  env.now = NOW + 30_000;
  assertEquals([open(), circuit.admit(other)], [[false, false, false], undefined]);
  circuit.answered(A);
  assertEquals([circuit.admit(FIRST), circuit.admit(other), circuit.admit(third)], Array(3).fill(undefined));
});

Deno.test("BankCircuit counts no failures together that lie 300 s apart", () => {
  const env = { now: NOW };
  const circuit = openBankCircuit(() => env.now);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  env.now += 299_999;
  circuit.unreachable(FIRST);
  assertEquals(circuit.isOpen(A, TPP), true);
  env.now += 300_000;
  circuit.unreachable(FIRST);
  assertEquals([circuit.isOpen(A, TPP), circuit.admit(FIRST)], [false, undefined]);
});

Deno.test("BankCircuit lets one new order through after 30 s and one that failed before; the others wait for them", () => {
  const env = { now: NOW };
  const circuit = openBankCircuit(() => env.now);
  for (let failures = 0; failures < 5; failures++) circuit.unreachable(FIRST);
  env.now += 29_999;
  assertEquals([circuit.admit(FIRST), circuit.admit(AGAIN)], [NOW + 30_000, NOW + 30_000]);
  env.now += 1;
  assertEquals(circuit.isOpen(A, TPP), false);
  assertEquals([circuit.admit(AGAIN), circuit.admit(AGAIN)], [undefined, env.now + 6000]);
  assertEquals([circuit.admit(FIRST), circuit.admit(FIRST)], [undefined, env.now + 6000]);
  circuit.unreachable(AGAIN); // does not tell anything new: no further pause
  assertEquals(circuit.isOpen(A, TPP), false);
  circuit.unreachable(FIRST);
  assertEquals([circuit.admit(FIRST), circuit.isOpen(A, TPP)], [env.now + 30_000, true]);
  env.now += 30_000;
  assertEquals(circuit.admit(FIRST), undefined);
  circuit.answered(A);
  assertEquals([circuit.admit(FIRST), circuit.admit(FIRST)], [undefined, undefined]);
});

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not an id");
  return value;
}

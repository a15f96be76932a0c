import { assertEquals } from "@std/assert";
import { openBankCircuit } from "../../../src/payments/bank_circuit.ts";
import {
  afterFailure,
  leased,
  openOrder,
  type PaymentOrder,
  putOff,
  redriven,
} from "../../../src/payments/payment_order.ts";
import { asBankCode, asPaymentId } from "../../../src/kernel/identifiers.ts";

const NOW = 1_900_000_000_000;
const ID = need(asPaymentId("0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
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
      order = afterFailure(order, "status 503", NOW, () => random);
      waits.push(order.dueAt - NOW);
    }
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    assertEquals(waits, [...seconds.map((wait) => wait * 1000 * factor), 0]);
    assertEquals([order.failures, order.lastFailure], [11, "status 503"]);
  }
});

Deno.test("leased and putOff count no failure and keep why the last one was", () => {
  const failed = afterFailure(openOrder(ID, A, NOW), "TimeoutError", NOW, () => 0);
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
  assertEquals(afterFailure(again, "x", NOW, () => 0).dueAt, NOW + 1000);
});

Deno.test("BankCircuit opens at the fifth failure in a row, for that bank alone", () => {
  const world = { now: NOW };
  const circuit = openBankCircuit(() => world.now);
  for (let failures = 0; failures < 4; failures++) circuit.failed(A);
  assertEquals(circuit.admit(A), undefined);
  circuit.succeeded(A); // in a row: the count starts again
  for (let failures = 0; failures < 4; failures++) circuit.failed(A);
  assertEquals(circuit.admit(A), undefined);
  circuit.failed(A);
  assertEquals([circuit.admit(A), circuit.admit(B)], [NOW + 30_000, undefined]);
});

Deno.test("BankCircuit lets one probe through after 30 s; the others wait for it", () => {
  const world = { now: NOW };
  const circuit = openBankCircuit(() => world.now);
  for (let failures = 0; failures < 5; failures++) circuit.failed(A);
  world.now += 29_999;
  assertEquals(circuit.admit(A), NOW + 30_000);
  world.now += 1;
  assertEquals([circuit.admit(A), circuit.admit(A)], [undefined, world.now + 6000]);
  circuit.failed(A);
  assertEquals(circuit.admit(A), world.now + 30_000);
  world.now += 30_000;
  assertEquals(circuit.admit(A), undefined);
  circuit.succeeded(A);
  assertEquals([circuit.admit(A), circuit.admit(A)], [undefined, undefined]);
});

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not an id");
  return value;
}

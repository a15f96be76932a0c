import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { openReceiverCircuit } from "../../../../src/platform/events/delivery/receiver_circuit.ts";
import { asBankCode, asClientId } from "../../../../src/base/kernel/identifiers.ts";

const NOW = 1_900_000_000_000;
const [A, B] = [present(asBankCode("BANKA")), present(asBankCode("BANKB"))];
const TPP = present(asClientId("SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const OTHER_TPP = present(asClientId("SC-1d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));
const THIRD_TPP = present(asClientId("SC-2d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"));

/** An order at its first push, and one that has failed before. */
const [FIRST, AGAIN] = [{ receiver: A, failures: 0, sender: TPP }, { receiver: A, failures: 3, sender: TPP }];

Deno.test("ReceiverCircuit opens at the fifth order in a row whose first push fails, for that bank alone", () => {
  const env = { now: NOW };
  const circuit = openReceiverCircuit(() => env.now);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  assertEquals(circuit.admit(FIRST), undefined);
  circuit.answered(A); // in a row: the count starts again
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  assertEquals([circuit.admit(FIRST), circuit.isOpen(A, TPP)], [undefined, false]);
  circuit.unreachable(FIRST);
  assertEquals([circuit.admit(FIRST), circuit.admit(AGAIN)], [NOW + 30_000, NOW + 30_000]);
  assertEquals([circuit.isOpen(A, TPP), circuit.isOpen(B, TPP)], [true, false]);
  assertEquals(circuit.admit({ ...FIRST, receiver: B }), undefined);
});

Deno.test("ReceiverCircuit does not count an order that has failed before, however often it fails again", () => {
  const circuit = openReceiverCircuit(() => NOW);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  for (let failures = 0; failures < 50; failures++) circuit.unreachable(AGAIN);
  assertEquals([circuit.isOpen(A, TPP), circuit.admit(FIRST)], [false, undefined]);
});

Deno.test("ReceiverCircuit is open for one TPP alone until the orders of another have opened its own as well", () => {
  const env = { now: NOW };
  const circuit = openReceiverCircuit(() => env.now);
  const [other, third] = [{ ...FIRST, sender: OTHER_TPP }, { ...FIRST, sender: THIRD_TPP }];
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

Deno.test("ReceiverCircuit counts no failures together that lie 300 s apart", () => {
  const env = { now: NOW };
  const circuit = openReceiverCircuit(() => env.now);
  for (let failures = 0; failures < 4; failures++) circuit.unreachable(FIRST);
  env.now += 299_999;
  circuit.unreachable(FIRST);
  assertEquals(circuit.isOpen(A, TPP), true);
  env.now += 300_000;
  circuit.unreachable(FIRST);
  assertEquals([circuit.isOpen(A, TPP), circuit.admit(FIRST)], [false, undefined]);
});

Deno.test("ReceiverCircuit lets one new order through after 30 s and one that failed before; the others wait for them", () => {
  const env = { now: NOW };
  const circuit = openReceiverCircuit(() => env.now);
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

/** The list of disputes that have not ended: a bounded read of it has those that are due first. */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import {
  afterDecision,
  afterStep,
  type Dispute,
  openDispute,
} from "../../../../src/platform/core/disputes/dispute.ts";
import { openDisputeStore } from "../../../../src/platform/core/disputes/dispute_store.ts";

import { openTestStore } from "testing/test_store.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2040, 0, 15);
const CLIENT = "SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00" as ClientId;

function opened(id: number, day: number): Dispute {
  const paymentId = `00000000-0000-4000-8000-00000000000${id}` as PaymentId;
  const of = {
    paymentId,
    consentId: `00000000-0000-7000-8000-00000000000${id}` as ConsentId,
    clientId: CLIENT,
    bank: "BANKA" as BankCode,
  };
  const at = START + day * DAY_MS;
  return openDispute(of, { action: "Open", by: "TPP", sequence: 2, at, position: at });
}

Deno.test("open disputes are read in the order in which they are due, also after a step, and no other ones [DSP4]", async () => {
  const store = await openTestStore();
  const disputes = openDisputeStore(store);
  const change = async (paymentId: PaymentId | undefined, changed: Dispute): Promise<void> => {
    const former = paymentId === undefined ? null : await disputes.find(store, changed);
    await commitIfUnchanged({ store, clock: () => START }, (tx) => disputes.stage(tx, former, changed));
  };
  const due = async (limit: number): Promise<string[]> =>
    (await disputes.open(limit)).map(({ paymentId }) => paymentId.slice(-1));
  const [one, two, three] = [opened(1, 3), opened(2, 1), opened(3, 2)];
  for (const dispute of [one, two, three]) await change(undefined, dispute);
  assertEquals([await due(1), await due(9)], [["2"], ["2", "3", "1"]]);
  const [at, position] = [START + 4 * DAY_MS, START + 4 * DAY_MS];
  const move = { action: "Answer", by: "Bank", sequence: 3, at, position } as const;
  await change(two.paymentId, afterStep(two, { ...move, isAgreed: false }));
  assertEquals([await due(1), await due(9)], [["3"], ["3", "1", "2"]]);
  await change(three.paymentId, afterStep(three, { ...move, isAgreed: true }));
  await change(one.paymentId, afterDecision(one, "Upheld", { at, position }) ?? one);
  assertEquals(await due(9), ["2"]);
  assertEquals((await store.list({ prefix: ["dispute_open"], limit: 9 })).length, 1);
  await store.close();
});

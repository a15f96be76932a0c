/**
 * The list of disputes that have not ended: a bounded read of it has those that are due first. The whole of a dispute
 * after each step, and what each party can do then.
 */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { commitIfUnchanged } from "../../../../src/base/store/transaction.ts";
import {
  actionsOf,
  afterDecision,
  afterStep,
  type Dispute,
  isOverdue,
  openDispute,
} from "../../../../src/platform/core/disputes/dispute.ts";
import { decodeDisputeRequest } from "../../../../src/platform/core/disputes/dispute_schema.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import {
  findDispute,
  listOpenDisputes,
  stageDispute,
} from "../../../../src/platform/core/disputes/dispute_store.ts";

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
  await using store = await openTestStore();
  const change = async (paymentId: PaymentId | undefined, changed: Dispute): Promise<void> => {
    const former = paymentId === undefined ? null : await findDispute(store, changed);
    await commitIfUnchanged({ store, clock: () => START }, (tx) => stageDispute(tx, former, changed));
  };
  const due = async (limit: number): Promise<string[]> =>
    (await listOpenDisputes(store, limit)).map(({ paymentId }) => paymentId.slice(-1));
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
});

Deno.test("an answer says whether it agrees, and no other step does [DSP2]", () => {
  const step = { DomesticPaymentId: "0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00", Statement: "It came." };
  const wordsOf = (more: object): unknown => {
    try {
      return decodeDisputeRequest({ Data: { ...step, ...more } }).action;
    } catch (error) {
      return error instanceof ApiError ? error.parts.faults?.map(({ message }) => message) : error;
    }
  };
  assertEquals(wordsOf({ Action: "Answer" }), ["Is required for an answer."]);
  for (const Action of ["Open", "Withdraw"]) {
    assertEquals(wordsOf({ Action, IsAgreed: false }), ["Must be absent except in an answer."]);
  }
  assertEquals([wordsOf({ Action: "Answer", IsAgreed: false }), wordsOf({ Action: "Open" })], [
    "Answer",
    "Open",
  ]);
});

Deno.test("a dispute has the whole of its former state and of its step, until when the next is expected, and ends once [DSP2, DSP4]", () => {
  const dueAt = START + 15 * DAY_MS;
  const one = opened(1, 0);
  const { paymentId, consentId, clientId, bank } = one;
  const of = { paymentId, consentId, clientId, bank, openedBy: "TPP", openedAt: START } as const;
  const first = { by: "TPP", at: START, sequence: 2 } as const;
  assertEquals(one, { ...of, status: "Open", dueAt, updatedAt: START, position: START, steps: [first] });
  const [at, position] = [START + DAY_MS, START + 7];
  const move = { at, sequence: 5, position };
  const answer = { ...move, action: "Answer", by: "Bank" } as const;
  const changed = {
    ...of,
    updatedAt: at,
    position,
    steps: [first, { by: "Bank", at, sequence: 5 }],
  } as const;
  const answered = afterStep(one, { ...answer, isAgreed: false });
  assertEquals(answered, { ...changed, status: "Answered", dueAt: dueAt + DAY_MS });
  assertEquals(afterStep(one, { ...answer, isAgreed: undefined }), answered);
  const agreed = afterStep(one, { ...answer, isAgreed: true });
  assertEquals(agreed, { ...changed, status: "Decided", outcome: "Agreed" });
  const withdrawn = afterStep(one, { ...move, action: "Withdraw", by: "TPP", isAgreed: true });
  const steps = [first, { by: "TPP", at, sequence: 5 }] as const;
  assertEquals(withdrawn, { ...changed, status: "Withdrawn", steps });
  const decided = afterDecision(answered, "Rejected", { at: at + 1, position: position + 1 });
  const { dueAt: _, ...kept } = answered;
  const expected = {
    ...kept,
    updatedAt: at + 1,
    position: position + 1,
    status: "Decided",
    outcome: "Rejected",
  };
  assertEquals(decided, expected as Dispute);
  for (const ended of [agreed, withdrawn]) assertEquals(afterDecision(ended, "Upheld", move), undefined);
  const all = [undefined, one, answered, agreed, withdrawn, decided];
  assertEquals(all.map((dispute) => (["TPP", "Bank"] as const).map((by) => actionsOf(dispute, by).join())), [
    ...[["Open", "Open"], ["Withdraw", "Answer"], ["Withdraw", ""]],
    ...[["", ""], ["", ""], ["", ""]],
  ]);
  assertEquals([isOverdue(one, dueAt), isOverdue(one, dueAt + 1), isOverdue(agreed, Infinity)], [
    false,
    true,
    false,
  ]);
});

/** An operator decides a dispute (contract DSP7). Dispute, history entry and the events of both parties are one commit. */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import { afterDecision, type Dispute, DISPUTE_PARTIES, type Outcome } from "./dispute.ts";
import { type DisputeNoticeDeps, stageDisputeNotice } from "./dispute_notice.ts";
import { findDispute, stageDispute } from "./dispute_store.ts";
import { disputedPayment, type ReadDisputeDeps } from "./read_dispute.ts";

export interface DecideDisputeDeps extends TransactDeps, ReadDisputeDeps, DisputeNoticeDeps {}

export interface DecideDispute {
  readonly paymentIdText: string;
  readonly outcome: Exclude<Outcome, "Agreed">;
  /** `operator <name>`. */
  readonly operator: string;
  readonly reason: string;
}

/** @throws {ApiError} `operations.case_unknown`, `operations.conflict` if the dispute has ended */
export async function decideDispute(
  deps: DecideDisputeDeps,
  { paymentIdText, outcome, operator, reason }: DecideDispute,
): Promise<Dispute> {
  const id = asPaymentId(paymentIdText);
  return await transact(deps, { what: "dispute" }, async (tx) => {
    const payment = id === undefined ? null : await deps.payments.find(tx, id);
    const former = payment && await findDispute(tx, disputedPayment(payment.value));
    if (payment === null || former === null) throw new ApiError("operations.case_unknown");
    const at = deps.clock();
    const entry = { at, event: "dispute.decided", actor: operator, reason: `${outcome}: ${reason}` };
    const position = await deps.payments.stageNote(tx, payment.value.id, entry);
    const changed = afterDecision(former.value, outcome, { at, position });
    if (changed === undefined) throw new ApiError("operations.conflict");
    stageDispute(tx, former, changed);
    for (const party of DISPUTE_PARTIES) stageDisputeNotice(deps, tx, party, changed);
    return changed;
  });
}

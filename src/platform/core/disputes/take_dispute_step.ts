/**
 * A party opens, answers or withdraws a dispute (contract DSP1 to DSP3). The dispute, the entry with the statement, the
 * other party's event and the claim of the idempotency key are one commit.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import type { Claim, ClaimStore } from "../../guards/idempotency/idempotent.ts";
import { type SignedBody, signedEvidence } from "../../guards/security/payload_signature.ts";
import { actionsOf, afterStep, type Dispute, type DisputeAction, openDispute } from "./dispute.ts";
import { type DisputeNoticeDeps, stageDisputeNotice } from "./dispute_notice.ts";
import { findDispute, stageDispute } from "./dispute_store.ts";
import type { DisputeRequest } from "./dispute_schema.ts";
import {
  type Disputant,
  findDisputed,
  readDispute,
  type ReadDisputeDeps,
  STATEMENT_KINDS,
} from "./read_dispute.ts";

export interface TakeDisputeStepDeps extends TransactDeps, ReadDisputeDeps, DisputeNoticeDeps {
  readonly claims: ClaimStore;
}

/** A decoded request whose token and signature are verified. */
export interface TakeDisputeStep extends RequestState {
  readonly by: Disputant;
  readonly request: DisputeRequest;
  readonly signedBody: SignedBody;
  readonly claim: Claim;
}

const EVENTS = { Open: "dispute.opened", Answer: "dispute.answered", Withdraw: "dispute.withdrawn" } as const;

/**
 * Returns the dispute after the step.
 *
 * @throws {ApiError} `resource.not_found`, `resource.invalid_fields` if the party cannot take this step now
 */
export async function takeDisputeStep(deps: TakeDisputeStepDeps, command: TakeDisputeStep): Promise<Dispute> {
  const { by, request: { paymentIdText, action, isAgreed }, signedBody, claim } = command;
  return await transactFor(deps, command, { what: "dispute" }, async (tx) => {
    const claimed = await deps.claims.claimFor(tx, claim);
    if ("resourceId" in claimed) return await readDispute(deps, tx, claimed.resourceId, by);
    const { value: payment } = await findDisputed(deps, tx, paymentIdText, by);
    const { id: paymentId, consentId, clientId, bank } = payment;
    const former = await findDispute(tx, { paymentId, clientId, bank });
    const allowed = actionsOf(former?.value, by.party);
    if (!allowed.includes(action)) return await repeatedStep(deps, command, allowed);
    const at = deps.clock();
    const sequence = (payment.sequence ?? 0) + 1;
    const proof = signedEvidence(STATEMENT_KINDS[by.party], signedBody);
    const entry = { at, event: EVENTS[action], actor: by.clientId, ...proof };
    const position = await deps.payments.stageNote(tx, paymentId, entry);
    const move = { action, isAgreed, by: by.party, at, sequence, position };
    const changed = former === null
      ? openDispute({ paymentId, consentId, clientId, bank }, move)
      : afterStep(former.value, move);
    stageDispute(tx, former, changed);
    stageDisputeNotice(deps, tx, by.party === "TPP" ? "Bank" : "TPP", changed);
    deps.claims.stage(tx, claimed.free, paymentId);
    return changed;
  });
}

/**
 * Returns the dispute if a parallel request with the same key has taken the step. It wrote claim and dispute together, so
 * who has read the claim before and the dispute after that looks again.
 */
async function repeatedStep(
  deps: TakeDisputeStepDeps,
  { by, claim }: TakeDisputeStep,
  allowed: readonly DisputeAction[],
): Promise<Dispute> {
  const claimed = await deps.claims.claimFor(deps.store, claim);
  if ("free" in claimed) throw notNow(allowed);
  return await readDispute(deps, deps.store, claimed.resourceId, by);
}

function notNow(allowed: readonly DisputeAction[]): ApiError {
  const message = allowed.length === 0
    ? "You can take no step in the dispute of this payment now."
    : `Must be ${allowed.join(" or ")} now.`;
  const fault = { code: "Field.Invalid", path: "Data.Action", message } as const;
  return new ApiError("resource.invalid_fields", { faults: [fault] });
}

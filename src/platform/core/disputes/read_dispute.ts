/** Reads a dispute with what its parties have stated, for one of them. For any other caller it does not exist (Decision C2). */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { WallTime } from "../../../base/kernel/clock.ts";
import { asPaymentId, type BankCode, type ClientId } from "../../../base/kernel/identifiers.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { evidencePlace } from "../../evidence/evidence.ts";
import { bodyAt } from "../../evidence/evidence_store.ts";
import { forParticipant } from "../../guards/security/standing.ts";
import type { Payment, ReadablePayment } from "../payments/payment.ts";
import type { PaymentStore } from "../payments/payment_store.ts";
import type { Dispute, DisputeParty } from "./dispute.ts";
import { statementIn } from "./dispute_schema.ts";
import { type DisputedPayment, findDispute } from "./dispute_store.ts";

export interface ReadDisputeDeps {
  readonly payments: PaymentStore;
}

/** A party of a payment. */
export interface Disputant {
  readonly party: DisputeParty;
  readonly clientId: ClientId;
  readonly bank: BankCode;
}

/** What a party has stated. */
export interface Statement {
  readonly by: DisputeParty;
  readonly at: WallTime;
  /** Absent if it was erased. */
  readonly text?: string;
  readonly isAgreed?: boolean;
}

/** The kind of evidence of what a party states. */
export const STATEMENT_KINDS = { TPP: "tpp_dispute", Bank: "bank_dispute" } as const;

/** Returns a payment of this party. @throws {ApiError} `resource.not_found` */
export async function findDisputed(
  deps: Pick<ReadDisputeDeps, "payments">,
  from: Reader,
  idText: unknown,
  { party, clientId, bank }: Disputant,
): Promise<Entry<ReadablePayment>> {
  const id = asPaymentId(idText);
  const entry = id === undefined ? null : await deps.payments.find(from, id);
  const isOwn = entry?.value.bank === bank && (party === "Bank" || entry.value.clientId === clientId);
  if (entry === null || !isOwn) throw new ApiError("resource.not_found");
  return { ...entry, value: forParticipant(entry.value) };
}

/** @throws {ApiError} `resource.not_found` */
export async function readDispute(
  deps: ReadDisputeDeps,
  from: Reader,
  idText: unknown,
  by: Disputant,
): Promise<Dispute> {
  const { value: payment } = await findDisputed(deps, from, idText, by);
  const dispute = await findDispute(from, disputedPayment(payment));
  if (dispute === null) throw new ApiError("resource.not_found");
  return dispute.value;
}

/** Returns by what the dispute of a payment is found. */
export function disputedPayment({ id: paymentId, clientId, bank }: Payment): DisputedPayment {
  return { paymentId, clientId, bank };
}

/** Returns the statements of a dispute from the evidence of its payment. */
export async function statementsOf(
  from: Reader,
  { paymentId, steps }: Dispute,
): Promise<readonly Statement[]> {
  return await Promise.all(steps.map(async ({ by, at, sequence }) => {
    const body = await bodyAt(from, evidencePlace(paymentId, sequence, STATEMENT_KINDS[by]));
    if (body === null || body === "lost") return { by, at };
    const { Statement, IsAgreed } = statementIn(body.bytes);
    return { by, at, text: Statement, ...(IsAgreed === undefined ? {} : { isAgreed: IsAgreed }) };
  }));
}

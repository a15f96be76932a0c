/** A dispute about a payment between its TPP and its bank, and its legal moves (contract DSP1 to DSP5). No I/O. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../../base/kernel/identifiers.ts";

export const DISPUTE_PARTIES = ["TPP", "Bank"] as const;
export type DisputeParty = typeof DISPUTE_PARTIES[number];
export const DISPUTE_STATUSES = ["Open", "Answered", "Decided", "Withdrawn"] as const;
/** `Agreed`: by the answer. The others: by an operator, of what the opener states. */
export const OUTCOMES = ["Agreed", "Upheld", "Rejected"] as const;
export type Outcome = typeof OUTCOMES[number];
export const DISPUTE_ACTIONS = ["Open", "Answer", "Withdraw"] as const;
export type DisputeAction = typeof DISPUTE_ACTIONS[number];

/** For the answer, and then for the decision (contract DSP4). */
const DUE_MS = 15 * 86_400_000;

/** A step of a party, whose statement is evidence in the payment's history. */
export interface DisputeStep {
  readonly by: DisputeParty;
  /** Number of its entry in the payment's history. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: WallTime;
}

export interface Dispute {
  readonly paymentId: PaymentId;
  readonly consentId: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly openedBy: DisputeParty;
  readonly status: typeof DISPUTE_STATUSES[number];
  /** When the next step should be taken, milliseconds. Absent if it has ended. */
  readonly dueAt?: WallTime;
  readonly outcome?: Outcome;
  readonly openedAt: WallTime;
  readonly updatedAt: WallTime;
  /** Of its newest entry in the payment's history, and of its event, so that no other event of the payment has it. */
  readonly position: number;
  readonly steps: readonly DisputeStep[];
}

type Placed = Pick<Move, "at" | "position">;

/** A step that a party takes. */
export interface Move extends DisputeStep {
  readonly action: DisputeAction;
  /** Whether an answer agrees with the opener. */
  readonly isAgreed?: boolean | undefined;
  /** Of its entry in the payment's history, milliseconds. */
  readonly position: number;
}

export function openDispute(
  of: Pick<Dispute, "paymentId" | "consentId" | "clientId" | "bank">,
  { by, at, sequence, position }: Move,
): Dispute {
  return {
    ...of,
    openedBy: by,
    status: "Open",
    dueAt: at + DUE_MS,
    openedAt: at,
    updatedAt: at,
    position,
    steps: [{ by, at, sequence }],
  };
}

/** Returns the steps that the party can take. */
export function actionsOf(dispute: Dispute | undefined, by: DisputeParty): readonly DisputeAction[] {
  if (dispute === undefined) return ["Open"];
  const isOpener = dispute.openedBy === by;
  if (dispute.status === "Open") return isOpener ? ["Withdraw"] : ["Answer"];
  return dispute.status === "Answered" && isOpener ? ["Withdraw"] : [];
}

/** Returns the dispute after an answer or a withdrawal that {@link actionsOf} allows. */
export function afterStep(dispute: Dispute, move: Move): Dispute {
  const { action, isAgreed, by, at, sequence } = move;
  const steps = [...dispute.steps, { by, at, sequence }];
  if (action === "Withdraw") return { ...endDispute(dispute, move), status: "Withdrawn", steps };
  if (isAgreed === true) return { ...endDispute(dispute, move), status: "Decided", outcome: "Agreed", steps };
  return { ...endDispute(dispute, move), status: "Answered", dueAt: at + DUE_MS, steps };
}

/** Returns the dispute after an operator's decision, or undefined if it has ended. */
export function afterDecision(dispute: Dispute, outcome: Outcome, entry: Placed): Dispute | undefined {
  return dispute.dueAt === undefined
    ? undefined
    : { ...endDispute(dispute, entry), status: "Decided", outcome };
}

/** Whether the time for the next step has passed. A step is accepted later too (contract DSP4). */
export function isOverdue({ dueAt }: Dispute, now: number): boolean {
  return dueAt !== undefined && dueAt < now;
}

function endDispute({ dueAt: _, ...dispute }: Dispute, { at, position }: Placed): Dispute {
  return { ...dispute, updatedAt: at, position };
}

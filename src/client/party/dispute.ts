/** A dispute about a payment as its TPP and its bank see it (contract DSP1 to DSP5). */
import * as z from "zod/mini";
import { UntrustedMessage } from "./errors.ts";

/** A step of a dispute. */
export interface DisputeStep {
  readonly paymentId: string;
  /** `Open`: of either party. `Answer`: of the other one. `Withdraw`: of the one that opened it. */
  readonly action: "Open" | "Answer" | "Withdraw";
  /** Of an answer: whether it agrees, which ends the dispute. */
  readonly isAgreed?: boolean;
  /** At most 2,000 characters. The other party reads it, and it is evidence of the case. */
  readonly statement: string;
}

/** What a party has stated. */
export interface DisputeStatement {
  readonly By: string;
  readonly DateTime: string;
  /** Absent if it was erased. */
  readonly Statement?: string | undefined;
  readonly IsAgreed?: boolean | undefined;
}

/** A dispute as last seen. */
export interface DisputeSeen {
  readonly DomesticPaymentId: string;
  readonly OpenedBy: string;
  /** `Open`, `Answered`, `Decided` or `Withdrawn`. */
  readonly Status: string;
  /** `Agreed`, or an operator's `Upheld` or `Rejected` of what the opener states. */
  readonly Outcome?: string | undefined;
  /** Until when the next step is expected. Absent at the end. */
  readonly DueDateTime?: string | undefined;
  readonly Statement: readonly DisputeStatement[];
}

/** Where steps are sent, below `{base_url}/{BANK}/`. */
export const DISPUTES = "disputes/v1";
/** Where bundles are, below `{base_url}/{BANK}/`. */
export const CASES = "cases/v1";

/** The body of a step. */
export function stepOnWire({ paymentId, action, isAgreed, statement }: DisputeStep): object {
  return { Data: { DomesticPaymentId: paymentId, Action: action, IsAgreed: isAgreed, Statement: statement } };
}

const answerSchema = z.object({
  Data: z.object({
    DomesticPaymentId: z.uuid(),
    OpenedBy: z.string(),
    Status: z.string(),
    Outcome: z.optional(z.string()),
    DueDateTime: z.optional(z.string()),
    Statement: z.array(z.object({
      By: z.string(),
      DateTime: z.string(),
      Statement: z.optional(z.string()),
      IsAgreed: z.optional(z.boolean()),
    })),
  }),
});

/** Reads the platform's answer about a payment's dispute. @throws {Error} if it is none, or about another payment */
export function disputeIn(answer: unknown, paymentId: string): DisputeSeen {
  const { Data } = answerSchema.parse(answer);
  if (Data.DomesticPaymentId === paymentId) return Data;
  throw new UntrustedMessage("The answer is about another payment");
}

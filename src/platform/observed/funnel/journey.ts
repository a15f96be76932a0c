/** The journey of one case as the funnel counts it: the steps that it has reached, and why it ended. No I/O. */
import type { ReasonCode } from "../../../base/values/reason_codes.ts";

/**
 * The steps, in their order. `opened`: the customer opened the link and was sent to the bank. `atBank`: the bank reported
 * the accounts of the customer, or returned the customer. `final`: no bank has to decide on the payment any more.
 */
export const STEPS = [
  "created",
  "pushed",
  "opened",
  "atBank",
  "returned",
  "decided",
  "paid",
  "final",
] as const;

export type Step = typeof STEPS[number];

/** `implicit`: the TPP named the account that pays. */
export const CONSENT_TYPES = ["explicit", "implicit"] as const;

export type ConsentType = typeof CONSENT_TYPES[number];

export interface Journey {
  /** The language of the page on which the customer decided, else the first one that the TPP asked for; or `unknown`. */
  readonly language: string;
  /** When each step was reached first, milliseconds. A step that was reached has all before it. */
  readonly reached: readonly number[];
  /** Why the consent or the payment was rejected. Absent if it was not. */
  readonly left?: ReasonCode;
}

export const UNKNOWN_LANGUAGE = "unknown";

/** Whether nothing that happens later changes how it is counted. */
export function isOver({ reached, left }: Journey): boolean {
  return left !== undefined || reached.length === STEPS.length;
}

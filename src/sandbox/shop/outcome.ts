/** Maps the state of an order to messages and a tone for the customer. */
import type { PaymentSeen } from "../../client/tpp/domestic_payments.ts";
import type { OrderState } from "./orders.ts";
import { isMessage, type MessageKey } from "./phrase.ts";

/** The names with messages `outcome.{says}.title` and `.text`. */
type Says = MessageKey extends infer Key ? Key extends `outcome.${infer Name}.title` ? Name : never : never;

/** The outcome as shown to the customer. */
export interface Outcome {
  readonly says: Says;
  readonly tone: "good" | "bad" | "open";
  /** Message for `#payment-status`; absent if the platform's status is shown there instead. */
  readonly status?: "status.inProgress" | "status.notPaid" | "status.unknown";
  /** The platform's status of the payment, or an error code. */
  readonly word?: string;
  /** English text of the platform or of a library, or the bank's reason. */
  readonly detail?: string;
  /** How many steps of {@link PROGRESS} are complete; absent if the order has no progress to show. */
  readonly done?: number;
  /** The outcome will not change any more. */
  readonly isFinal: boolean;
}

/** The steps of an accepted payment, in order. */
export const PROGRESS = ["accepted", "debited", "arrived"] as const;

/** Contract PT1 to PT10: the number of {@link PROGRESS} steps that each status implies. */
const DONE: ReadonlyMap<string, number> = new Map([
  ["Pending", 0],
  ["AcceptedSettlementInProcess", 1],
  ["AcceptedSettlementCompleted", 2],
  ["AcceptedWithoutPosting", 3],
  ["AcceptedCreditSettlementCompleted", 3],
]);
const FINAL: ReadonlySet<string> = new Set(["Rejected", "AcceptedCreditSettlementCompleted"]);

/** The outcome. The platform may know a newer status of the payment than this shop. */
export function outcomeOf(state: OrderState): Outcome {
  switch (state.phase) {
    case "starting":
    case "paying":
      return { says: "waiting", tone: "open", status: "status.inProgress", isFinal: false };
    case "at_bank":
      return { ...decision(state), status: "status.notPaid", isFinal: false };
    case "refused":
      return {
        says: rejection(state),
        tone: "bad",
        status: "status.notPaid",
        word: state.error,
        isFinal: true,
      };
    case "failed":
      return { says: "failed", tone: "bad", status: "status.notPaid", detail: state.reason, isFinal: true };
    case "unknown":
      return { says: "unknown", tone: "open", status: "status.unknown", detail: state.reason, isFinal: true };
    case "paid":
      return settlement(state.payment);
  }
}

/** The outcome in one word for programs, such as a certification (`docs/tpp.md`). */
export function paymentOutcome(state: OrderState): "paid" | "pending" | "rejected" | "failed" | "unknown" {
  switch (state.phase) {
    case "starting":
    case "paying":
    case "at_bank":
      return "pending";
    case "refused":
      return state.error === "access_denied" ? "rejected" : "failed";
    case "failed":
    case "unknown":
      return state.phase;
    case "paid":
      if (state.payment.status === "Rejected") return "rejected";
      return (DONE.get(state.payment.status) ?? 0) > 0 ? "paid" : "pending";
  }
}

/** The customer may still return, with the same decision. */
function decision({ decided }: Extract<OrderState, { phase: "at_bank" }>): Pick<Outcome, "says" | "tone"> {
  if (decided === undefined) return { says: "at_bank", tone: "open" };
  return { says: decided, tone: decided === "approved" ? "open" : "bad" };
}

/** The codes of reasons of `access_denied` for which the shop has its own messages. */
const DENIALS: ReadonlyMap<string, Says> = new Map<string, Says>([
  ["AM04", "denied_funds"],
  ["SESSION_EXPIRED", "denied_late"],
  ["DS24", "denied_late"],
  ["NOAS", "denied_late"],
  ["AC06", "denied_blocked"],
]);

function rejection({ error, reasonCode }: Extract<OrderState, { phase: "refused" }>): Says {
  if (error === "temporarily_unavailable") return "unavailable";
  if (error !== "access_denied") return "refused";
  return DENIALS.get(reasonCode ?? "") ?? "denied";
}

/** The codes of a bank's reasons for which the shop has its own messages. */
const REJECTIONS: ReadonlyMap<string, Says> = new Map<string, Says>([
  ["AM04", "rejected_funds"],
  ["AC04", "rejected_closed"],
]);

// contract PT4, PT8
function settlement({ status: word, reasonCode, reason }: PaymentSeen): Outcome {
  if (!isSettlement(word)) return { says: "other", tone: "open", word, isFinal: false };
  const tone = word === "Pending" ? "open" : word === "Rejected" ? "bad" : "good";
  const done = DONE.get(word);
  const says = REJECTIONS.get(reasonCode ?? "") ?? word;
  const more = {
    ...(done === undefined ? {} : { done }),
    ...(reason === undefined ? {} : { detail: reason }),
  };
  return { says, tone, word, isFinal: FINAL.has(word), ...more };
}

function isSettlement(word: string): word is Extract<Says, `${"A" | "P" | "R"}${string}`> {
  return /^[APR]/.test(word) && isMessage(`outcome.${word}.title`);
}

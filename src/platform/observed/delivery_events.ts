/** The logged events of payment orders and of events for TPPs. `log_events.ts` lists them with the others. */
import type { LogEvents } from "../../base/observability/log.ts";

const ALWAYS = "Always.";

export const DELIVERIES = {
  "order.delivered": {
    level: "info",
    fields: ["paymentId", "answer"],
    meaning: "The bank has answered an order.",
  },
  "order.not_delivered": {
    level: "warn",
    fields: ["paymentId", "bank", "failures", "why"],
    meaning: "A push failed, and is tried again. `why` is `status 503`, `TimeoutError` …",
    act: "A bank that is down. Its payments are `Pending`.",
  },
  "order.answer_not_recorded": {
    level: "warn",
    fields: ["paymentId", "answer"],
    meaning: "The order is pushed again. The bank recognizes it by its id.",
  },
  "order.held": {
    level: "warn",
    fields: ["paymentId", "bank", "why"],
    meaning: "The bank must not get the order now.",
    act: "See payment-orders.md.",
  },
  "order.dead": {
    level: "error",
    fields: ["paymentId", "bank", "failures", "why"],
    meaning: "The bank has not accepted a payment order, and it was given up.",
    act: "Always. See payment-orders.md.",
  },
  "events.rejected": {
    level: "warn",
    fields: ["count", "bank", "err"],
    meaning:
      "A TPP or a bank has reported that it cannot use events, with the error code of the first. They are sent again.",
    act: "If it lasts: ask it. `invalid_key` means that it has no current copy of the platform's keys.",
  },
  "event.not_delivered": {
    level: "warn",
    fields: ["jti", "clientId", "bank", "failures", "why"],
    meaning: "The TPP's receiver has not acknowledged a pushed event, which is pushed again.",
    act: "If it lasts: see runbooks/events-delayed.md.",
  },
  "event.dead": {
    level: "error",
    fields: ["jti", "clientId", "bank", "failures", "why"],
    meaning: "The TPP's receiver has rejected an event 11 times. It is pushed no more and stays for polling.",
    act: "See runbooks/events-dead.md.",
  },
  "events.expiry_unknown": {
    level: "error",
    fields: ["clientId", "error"],
    meaning:
      "A fault of the platform while it looked for expiring keys of a TPP. It tries again an hour later.",
    act: ALWAYS,
  },
  "event.delivery_failed": {
    level: "error",
    fields: ["jti", "error"],
    meaning: "A fault of the platform while it pushed an event.",
    act: ALWAYS,
  },
  "order.closed": {
    level: "warn",
    fields: ["paymentId", "bank", "by"],
    meaning: "An operator has closed an order, and its payment is `Rejected`.",
  },
  "order.delivery_failed": {
    level: "error",
    fields: ["paymentId", "error"],
    meaning: "A fault of the platform while it delivered an order.",
    act: ALWAYS,
  },
  "order.not_resumed": {
    level: "error",
    fields: ["paymentId", "error"],
    meaning: "A held order stays held.",
    act: ALWAYS,
  },
  "order_hold.released": {
    level: ["info", "warn"],
    fields: ["bank", "by", "reconciled"],
    meaning: "A bank gets its orders again. `warn`: without a comparison after the restore.",
  },
  "consent.not_erased": {
    level: "error",
    fields: ["consentId", "error"],
    meaning: "A consent keeps its personal data, and its deletion is tried again.",
    act: ALWAYS,
  },
  "case.erased": {
    level: "warn",
    fields: ["consentId", "by"],
    meaning: "A case was erased: its data key and its evidence are deleted. `by` is an operator, or `clock`.",
  },
  "case.not_counted": {
    level: "error",
    fields: ["consentId", "error"],
    meaning:
      "A record of a case cannot be read. The funnel lacks what it did since, and looks again after 6 hours.",
    act: "Compare the record that `error` names with a backup. Else as `work.failed`.",
  },
  "case.not_erased": {
    level: "error",
    fields: ["consentId", "error"],
    meaning: "The erasure or deletion of a case is not complete, and is tried again.",
    act: ALWAYS,
  },
  "data_keys.lost": {
    level: "error",
    fields: ["caseId"],
    meaning:
      "The data key store was restored from a copy that lacks the key of this case. Its personal data and evidence cannot be read.",
    act: "Put a newer copy of the data key store in place, if one exists. See data-keys.md.",
  },
  "wrapping_keys.unknown": {
    level: "error",
    fields: ["wrappedBy"],
    meaning:
      "Data keys are wrapped by a key that this process does not have. Requests for their cases get 503 in this process.",
    act:
      "Act immediately. Put the line back into PLATFORM_WRAPPING_KEYS and reload every process. See data-keys.md.",
  },
  "data_keys.store_failing": {
    level: "error",
    fields: ["why"],
    meaning: "The data key store cannot be read or written. Requests that need a data key get 503.",
    act: "Act immediately. See If the database fails in database-failures.md.",
  },
  "data_keys.store_working": {
    level: "warn",
    fields: ["failedSeconds"],
    meaning: "The data key store can be read and written again.",
  },
  "data_keys.rewrapped": {
    level: "info",
    fields: ["wrappedBy"],
    meaning: "This process has seen every data key wrapped by the newest wrapping key.",
  },
  "consent.not_expired": {
    level: "error",
    fields: ["consentId", "error"],
    meaning: "The expiry was not recorded. Reads of the consent are right; its history lacks it.",
    act: ALWAYS,
  },
} as const satisfies LogEvents;

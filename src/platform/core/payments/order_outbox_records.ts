/** The records of the outbox: orders still to be pushed, and the lists that name them. */
import { z } from "zod";
import type { PaymentId } from "../../../base/kernel/identifiers.ts";
import { defineRecord, optional, type StoredRecord } from "../../../base/store/record.ts";
import { bankCode, count, flag, instant, paymentId, text } from "../../../base/store/record_fields.ts";
import type { PaymentOrder } from "./payment_order.ts";

export const outboxRecord = defineRecord<PaymentOrder>({
  name: "outbox",
  keyParts: ["payment id"],
  what: "A payment order that is still to be pushed to the bank.",
  schema: z.looseObject({
    paymentId,
    bank: bankCode,
    failures: count,
    dueAt: instant,
    dead: flag,
    held: optional(text),
    lastFailure: optional(text),
    refused: optional(flag),
    bankText: optional(text),
  }),
  version: 1,
  lifetime: "Until the bank has responded to it or reported a status.",
  personalData: "pseudonymous",
  retention: "protocol",
});

export const outboxQueueRecord = list(
  "outbox_queue",
  ["bank code", "due time (ms)", "payment id"],
  "The id of an order of a bank, by the time at which it is due.",
  "As long as the order waits to be pushed.",
);

export const outboxDeadRecord = list(
  "outbox_dead",
  ["payment id"],
  "The id of an order whose retries have ended.",
  "Until an operator retries the order or the bank reports on it.",
);

export const outboxHeldRecord = list(
  "outbox_held",
  ["bank code", "payment id"],
  "The id of an order that the bank must not get now.",
  "Until the bank may have its orders again.",
);

export const formerQueueRecord = list(
  "outbox_due",
  ["due time (ms)", "payment id"],
  "The queue of earlier versions, in which all banks' orders lay together. Read at the start, never written.",
  "Until the order is moved to its bank's queue.",
);

function list(
  name: string,
  keyParts: readonly string[],
  what: string,
  lifetime: string,
): StoredRecord<PaymentId> {
  return defineRecord<PaymentId>({
    name,
    keyParts,
    what,
    schema: paymentId,
    version: 1,
    lifetime,
    personalData: "pseudonymous",
    retention: "protocol",
  });
}

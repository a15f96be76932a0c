/** The records of the outbox: orders still to be pushed, and the lists that name them. */
import { z } from "zod";
import type { PaymentId } from "../../../base/kernel/identifiers.ts";
import {
  bankCode,
  count,
  defineRecord,
  flag,
  instant,
  type MembersOf,
  optional,
  paymentId,
  type StoredRecord,
  text,
} from "../../../base/store/record.ts";
import type { PaymentOrder, WaitingOrder } from "./payment_order.ts";

const members = {
  paymentId,
  bank: bankCode,
  failures: count,
  mayBeAtBank: flag,
  lastFailure: optional(text),
  bankText: optional(text),
} satisfies MembersOf<Omit<WaitingOrder, "state" | "dueAt">>;

export const outboxRecord = defineRecord<PaymentOrder>({
  name: "outbox",
  keyParts: ["payment id"],
  what: "A payment order that is still to be pushed to the bank. What the bank wrote with its 4xx is sealed.",
  schema: z.discriminatedUnion("state", [
    z.looseObject({ ...members, state: z.literal("waiting"), dueAt: instant }),
    z.looseObject({ ...members, state: z.literal("leased"), dueAt: instant }),
    z.looseObject({ ...members, state: z.literal("held"), why: text, heldAt: instant }),
    z.looseObject({ ...members, state: z.literal("dead"), diedAt: instant }),
  ]),
  version: 1,
  lifetime: "Until the bank has responded to it or reported a status.",
  personalData: "customer",
  retention: "protocol",
  restore: "held",
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
    restore: "kept",
  });
}

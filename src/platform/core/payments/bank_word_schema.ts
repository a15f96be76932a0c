/**
 * What a bank may say beside a status: in its answer to a push, in a report, and in a statement after a restore. What is
 * declared here is decoded from all three, documented and kept; `saidOf` puts it into the payment.
 */
import { z } from "@hono/zod-openapi";
import { MAX_STATUS_REASON_CHARACTERS } from "../../../base/profile.ts";
import { reportedReasonCodeSchema, text } from "../../guards/http/wire_fields.ts";
import type { BankWord } from "./payment.ts";

/** In a report, where an unusable value is rejected (contract RSN-N1). */
export const reportedWord = {
  StatusReasonCode: reportedReasonCodeSchema,
  StatusReason: text(MAX_STATUS_REASON_CHARACTERS).optional().openapi({
    description: "The reason. With Rejected the TPP gets it unchanged. No personal data.",
    example: "Insufficient funds",
  }),
};

/** In an answer, where an unusable value is ignored, because the status decides (contract RSN-N2). */
export const answeredWord = {
  ...reportedWord,
  StatusReason: z.string().optional().openapi({
    description: "With Rejected, for the TPP. No personal data.",
    example: "Insufficient funds",
  }),
};

const anyText = z.string().optional();
/** In a statement, where it is ignored too. The evidence keeps what the bank wrote. */
export const statedWord: Readonly<Record<keyof typeof answeredWord, typeof anyText>> = {
  StatusReasonCode: anyText,
  StatusReason: anyText,
};

/** How a kept statement shows each member: what can be personal data is removed (contract EN16). */
export const KEPT_WORD: Readonly<Record<keyof typeof answeredWord, "kept" | "removed">> = {
  StatusReasonCode: "kept",
  StatusReason: "removed",
};

type Wire = z.infer<z.ZodObject<typeof answeredWord>>;

/** Returns what a report says. */
export function wordOf({ StatusReasonCode, StatusReason }: Wire): BankWord {
  return { reasonCode: StatusReasonCode, reason: StatusReason };
}

/** Returns what is usable of an answer or a statement. */
export function usableWord(given: { readonly [Name in keyof Wire]?: unknown }): BankWord {
  const usable = Object.entries(answeredWord).map(([name, schema]): [string, unknown] => {
    return [name, schema.safeParse(given[name as keyof Wire]).data];
  });
  return wordOf(Object.fromEntries(usable) as Wire);
}

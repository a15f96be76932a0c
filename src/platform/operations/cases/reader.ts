/** What of a case a participant may read: what it has sent or received itself (contract EV18). */
import type { CaseEntry, CaseFile } from "../../evidence/read_case.ts";

/** A participant of a case. */
export type CaseReader = "tpp" | "bank";

const OWN: Readonly<Record<CaseReader, readonly string[]>> = {
  tpp: ["consent_request", "pushed_request", "payment_request", "tpp_dispute", "bank_dispute"],
  bank: [
    "handover",
    "payer_accounts",
    "sca_result",
    "order",
    "order_response",
    "status_report",
    "stated_order",
    "tpp_dispute",
    "bank_dispute",
  ],
};

/** The case as this reader may see it: evidence of others is withheld as if it were deleted. */
export function readableFor(file: CaseFile, reader: CaseReader): CaseFile {
  const entries = file.entries.map((each) => ({
    ...each,
    items: each.items.map(({ item, body }) => ({
      item,
      body: OWN[reader].includes(item.kind) ? body : null,
    })),
  }));
  return { ...file, entries };
}

/** Whether a participant gets the leaf alone: the record names an operator, with the operator's words. */
export function isOperators({ entry: { actor } }: CaseEntry): boolean {
  return actor.startsWith("operator ");
}

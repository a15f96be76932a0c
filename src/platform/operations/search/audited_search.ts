/** The search of an operator, whose reads of cases are recorded. For the operations API and the console. */
import type { RecordRead } from "../../guards/security/operator_audit.ts";
import { type AmountQuery, type FoundByAmount, searchAmount } from "./search_amount.ts";
import { type Found, search, type SearchDeps } from "./search.ts";

export interface AuditedSearchDeps extends SearchDeps {
  readonly recordRead: RecordRead;
}

/** The path of the search, which stands in the histories of operators. */
export const SEARCH_PATH = "/operations/search";
/** The path of the search by amount and days. */
export const AMOUNT_PATH = "/operations/cases";

/**
 * Searches, and records what the operator has found in the operator's history before it is returned. The text itself is
 * not recorded, because it may be about a person.
 */
export async function searchAsOperator(
  deps: AuditedSearchDeps,
  operator: string,
  text: string,
): Promise<Found> {
  const found = await search(deps, text);
  for (const one of auditedIds(found)) await deps.recordRead(operator, `${SEARCH_PATH}: ${one}`);
  return found;
}

/** Searches by amount and days, and records what was found in the same way. */
export async function searchAmountAsOperator(
  deps: AuditedSearchDeps,
  operator: string,
  query: AmountQuery,
): Promise<FoundByAmount> {
  const found = await searchAmount(deps, query);
  const read = found.cases.map(({ consentId }) => `consent ${consentId}`);
  for (const one of read.length > 0 ? read : ["nothing found"]) {
    await deps.recordRead(operator, `${AMOUNT_PATH}: ${one}`);
  }
  return found;
}

function auditedIds({ cases, traces: [trace] }: Found): readonly string[] {
  if (cases.length > 0) return cases.map(({ consentId }) => `consent ${consentId}`);
  return [trace === undefined ? "nothing found" : `interaction ${trace.interactionId}`];
}

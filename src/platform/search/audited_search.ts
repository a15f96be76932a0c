/** The search of an operator, whose reads of cases are recorded. For the operations API and the console. */
import type { RecordRead } from "../security/operator_audit.ts";
import { type Found, search, type SearchDeps } from "./search.ts";

export interface AuditedSearchDeps extends SearchDeps {
  readonly recordRead: RecordRead;
}

/** The path of the search, which stands in the histories of operators. */
export const SEARCH_PATH = "/operations/search";

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

function auditedIds({ cases, traces: [trace] }: Found): readonly string[] {
  if (cases.length > 0) return cases.map(({ consentId }) => `consent ${consentId}`);
  return [trace === undefined ? "nothing found" : `interaction ${trace.interactionId}`];
}

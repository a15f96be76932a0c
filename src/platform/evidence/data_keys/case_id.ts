/** Which case a consent or a payment belongs to: one data key seals both. */
import { digestBytes } from "../digest.ts";
import { type ConsentId, isUuid, paymentIdFrom } from "../../../base/kernel/identifiers.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";

/** The id of a consent's payment (Decision G9), whether or not the payment exists. */
export type CaseId = string;

/** The position of a UUID's version, and the version of derived payment ids. */
const VERSION_AT = 14;
const DERIVED = "8";
/** Ids of the consents that requests work on. */
const MAX_KNOWN = 2000;
const known = openRecentlyUsed<CaseId>(MAX_KNOWN);

/** Returns the case of a consent's or a payment's id, or undefined if the text is not an id. */
export function caseIdOf(id: string): CaseId | undefined {
  if (!isUuid(id)) return undefined;
  if (id[VERSION_AT] === DERIVED) return id;
  const before = known.get(id);
  if (before !== undefined) return before;
  const caseId = paymentIdFrom(id as ConsentId, digestBytes);
  known.set(id, caseId);
  return caseId;
}

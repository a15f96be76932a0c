/**
 * Finds cases for operators by amount and day, which a customer knows without any id. The amounts stand in the lists of
 * consents (Decision L1), so only cases that fit are opened.
 */
import { asConsentId } from "../../../base/kernel/identifiers.ts";
import { type Listed, type Span, walkLists } from "../../guards/lists/lookup_store.ts";
import { AUTHORISE_WITHIN_SECONDS, USE_WITHIN_SECONDS } from "../../../base/profile.ts";
import { caseOf, type FoundCase, MAX_CASES, type SearchDeps } from "./search.ts";

/** The criteria of a search: an amount, and when the consent or its payment was created. */
export interface AmountQuery extends Span {
  /** Two fraction digits. */
  readonly amount: string;
  /** ISO 4217; any if undefined. */
  readonly currency: string | undefined;
  readonly bank: string | undefined;
  /** The client id of the TPP. */
  readonly tpp: string | undefined;
  /** The cursor of an earlier page. */
  readonly after: string | undefined;
}

export interface FoundByAmount {
  /** At most {@link MAX_CASES}, in the order of banks, TPPs and times of the consents. */
  readonly cases: readonly FoundCase[];
  /** Where the search goes on. It may have no results so far. */
  readonly next: string | undefined;
}

/** A payment is created so long after its consent at most, milliseconds. */
const PAYS_WITHIN_MS = (AUTHORISE_WITHIN_SECONDS + USE_WITHIN_SECONDS) * 1000;

/** Looks at a bounded number of entries. */
export async function searchAmount(deps: SearchDeps, query: AmountQuery): Promise<FoundByAmount> {
  const { amount, currency, bank, tpp, from, until, after } = query;
  const isWanted = (entry: Listed): boolean => {
    const [its, inCurrency] = entry.amount?.split(" ") ?? [];
    return its === amount && (currency === undefined || currency === inCurrency);
  };
  const tppsAt = (): "all" | readonly string[] => tpp === undefined ? "all" : [tpp];
  const span = { from: Math.max(0, from - PAYS_WITHIN_MS), until };
  const walk = { kind: "consent", bank, tppsAt, ...span, after, isWanted } as const;
  const { found, next } = await walkLists(deps.store, walk, MAX_CASES);
  const read = await Promise.all(found.map(async ({ id }) => {
    const consentId = asConsentId(id);
    return consentId === undefined ? undefined : await caseOf(deps, consentId, ["amount"], () => true);
  }));
  const isWithin = (at: number | undefined): boolean => at !== undefined && at >= from && at < until;
  const cases = read.filter((one) => one !== undefined)
    .filter(({ createdAt, paidAt }) => isWithin(createdAt) || isWithin(paidAt));
  return { cases, next };
}

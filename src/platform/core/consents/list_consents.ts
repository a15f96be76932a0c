/** Lists a TPP's consents at a bank (contract LS1). */
import type { Reader } from "../../../base/store/store.ts";
import { decide } from "../../evidence/personal_data.ts";
import type { ListQuery } from "../../guards/lists/list_query_schema.ts";
import { type ListPage, readList, type ReadListDeps } from "../../guards/lists/read_list.ts";
import { asOf, type ConsentStatus, type ReadableConsent } from "./consent.ts";
import type { ConsentStore } from "./consent_store.ts";
import { type ConsentReader, findConsent } from "./read_consent.ts";

/** For the query. */
export const CONSENT_STATUSES = [
  "AwaitingAuthorisation",
  "Rejected",
  "Authorized",
  "Consumed",
] as const satisfies readonly ConsentStatus[];

/** Returns the consents with their current statuses, oldest first. */
export async function listConsents(
  deps: ReadListDeps & { readonly consents: Pick<ConsentStore, "find"> },
  from: Reader,
  owner: Required<ConsentReader>,
  query: ListQuery,
): Promise<ListPage<ReadableConsent>> {
  const now = deps.clock();
  return await readList(deps, { kind: "consent", ...owner }, query, async (ids) => {
    const found = await Promise.all(ids.map((id) => findConsent(deps, from, id, owner)));
    return found.map((entry) => {
      if (entry === null) return undefined;
      return decide(asOf(entry.value, now), {
        present: (consent) => isAsked(consent, query) ? consent : undefined,
        erased: () => undefined,
        lost: () => undefined,
      });
    });
  });
}

function isAsked({ status, request }: ReadableConsent, query: ListQuery): boolean {
  const { endToEndIdentification } = request.initiation;
  return (query.status === undefined || query.status === status) &&
    (query.endToEndId === undefined || query.endToEndId === endToEndIdentification);
}

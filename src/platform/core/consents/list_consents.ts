/** Lists a TPP's consents at a bank (contract LS1). */
import { asConsentId } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { ListQuery } from "../../guards/lookup/list_query_schema.ts";
import { type ListPage, readList, type ReadListDeps } from "../../guards/lookup/read_list.ts";
import { asOf, type Consent, type ConsentStatus } from "./consent.ts";
import type { ConsentStore } from "./consent_store.ts";
import type { ConsentReader } from "./read_consent.ts";

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
): Promise<ListPage<Consent>> {
  const now = deps.clock();
  return await readList(deps, { kind: "consent", ...owner }, query, async (ids) => {
    const found = await Promise.all(ids.map(async (text) => {
      const id = asConsentId(text);
      return id === undefined ? null : await deps.consents.find(from, id);
    }));
    return found.map((entry) => {
      const consent = entry === null ? undefined : asOf(entry.value, now);
      return consent !== undefined && isOwn(consent, owner) && isAsked(consent, query) ? consent : undefined;
    });
  });
}

function isOwn({ bank, clientId, forgottenAt }: Consent, owner: Required<ConsentReader>): boolean {
  return bank === owner.bank && clientId === owner.clientId && forgottenAt === undefined;
}

function isAsked({ status, request }: Consent, query: ListQuery): boolean {
  const { endToEndIdentification } = request.initiation;
  return (query.status === undefined || query.status === status) &&
    (query.endToEndId === undefined || query.endToEndId === endToEndIdentification);
}

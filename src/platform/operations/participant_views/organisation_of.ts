/** Finds an organisation's registered clients. The directory's status list says which software it has. */
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import { bankCodeOf } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { openOrganisation, type Organisation } from "../../guards/security/organisation.ts";

export interface OrganisationDeps {
  readonly store: Reader;
  readonly clients: Pick<ClientStore, "find">;
  readonly softwareOf: (orgId: string) => Promise<readonly ClientId[]>;
}

/** Software of one organisation. What it has beyond this is not shown. */
const MAX_CLIENTS = 50;

/** @throws {ApiError} `platform.unavailable` if the directory's list is not known */
export function organisationsOf(deps: OrganisationDeps): (orgId: string) => Promise<Organisation> {
  return async (orgId) => {
    const listed = (await deps.softwareOf(orgId)).slice(0, MAX_CLIENTS);
    const clients = await Promise.all(listed.map((clientId) => deps.clients.find(deps.store, clientId)));
    const own = clients.filter((client) => client !== null);
    return openOrganisation(orgId, own.map((client) => ({ ...client, bank: bankCodeOf(client) })));
  };
}

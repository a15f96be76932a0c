/** Finds an organisation's registered clients. The directory's status list says which software it has. */
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import { bankCodeOf } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { openOrganisation, type Organisation, type OwnClient } from "../../guards/security/organisation.ts";

export interface OrganisationDeps {
  readonly store: Reader;
  readonly clients: Pick<ClientStore, "find">;
  readonly softwareOf: (orgId: string) => Promise<readonly ClientId[]>;
}

const AT_ONCE = 50;

/** @throws {ApiError} `platform.unavailable` if the directory's list is not known */
export function organisationsOf(deps: OrganisationDeps): (orgId: string) => Promise<Organisation> {
  return async (orgId) => {
    const listed = await deps.softwareOf(orgId);
    const own: OwnClient[] = [];
    for (let from = 0; from < listed.length; from += AT_ONCE) {
      const some = listed.slice(from, from + AT_ONCE);
      const clients = await Promise.all(some.map((clientId) => deps.clients.find(deps.store, clientId)));
      own.push(...clients.flatMap((client) => client ? [{ ...client, bank: bankCodeOf(client) }] : []));
    }
    return openOrganisation(orgId, own);
  };
}

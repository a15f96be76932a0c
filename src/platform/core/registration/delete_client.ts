/**
 * A TPP deletes its own registration (contract DC20 to DC23, Decision B7). Its client, with which every token and request
 * is checked, ends in the commit that records it in the history. Its consents and payments remain.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import { UNKNOWN_TOKEN } from "../../guards/security/proven_caller.ts";
import type { ClientStore } from "./client_store.ts";

export interface DeleteClientDeps extends TransactDeps {
  readonly clients: Pick<ClientStore, "readRegistered" | "stageDeletion">;
}

export interface DeleteClient extends RequestState {
  readonly clientId: ClientId;
  readonly authentication: Authentication;
}

/** @throws {ApiError} `token.invalid` if a parallel request has deleted it */
export async function deleteClient(deps: DeleteClientDeps, command: DeleteClient): Promise<void> {
  const { clientId, authentication } = command;
  await transactFor(deps, command, { what: "registration" }, async (tx) => {
    const { client } = await deps.clients.readRegistered(tx, clientId, undefined);
    if (client === null) throw goneError();
    deps.clients.stageDeletion(tx, client, deps.clock(), authentication);
  });
}

/** Returns the rejection of a request whose client a parallel request has deleted. */
export function goneError(): ApiError {
  return new ApiError("token.invalid", { detail: "deleted", fault: UNKNOWN_TOKEN });
}

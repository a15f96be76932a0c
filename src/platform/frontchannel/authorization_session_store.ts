/** Stores authorization sessions by correlation id. Each change checks the version that it is based on. */
import { authorizationSessionKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import { type AuthorizationSession, keptUntil } from "./authorization_session.ts";

export interface AuthorizationSessionStore {
  find(correlationId: string, from?: Reader): Promise<Entry<AuthorizationSession> | null>;
  stageOpening(tx: Transaction, interaction: AuthorizationSession): void;
  /** Stages a change. Of parallel changes, only one commits. */
  stageChange(tx: Transaction, former: Entry<AuthorizationSession>, changed: AuthorizationSession): void;
}

export function openAuthorizationSessionStore(store: Store): AuthorizationSessionStore {
  return {
    find: (correlationId, from = store) =>
      from.get<AuthorizationSession>(authorizationSessionKey(correlationId)),
    stageOpening(tx, interaction) {
      check(tx, authorizationSessionKey(interaction.correlationId), null);
      set(tx, authorizationSessionKey(interaction.correlationId), interaction, keptUntil(interaction));
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      set(tx, former.key, changed, keptUntil(changed));
    },
  };
}

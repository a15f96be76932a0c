/** Interactions by correlation id. Each change is staged against the version it was decided on. */
import { authorizationSessionKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import { type AuthorizationSession, keptUntil } from "./authorization_session.ts";

/** Reads and stages interactions. */
export interface AuthorizationSessionStore {
  find(correlationId: string, from?: Reader): Promise<Entry<AuthorizationSession> | null>;
  /** Stages a fresh interaction. */
  stageOpening(tx: Transaction, interaction: AuthorizationSession): void;
  /** Stages a change; of parallel ones, one commits. */
  stageChange(tx: Transaction, former: Entry<AuthorizationSession>, changed: AuthorizationSession): void;
}

/** Opens the store of interactions. */
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

/** Stores authorization sessions by correlation id. Each change checks the version that it is based on. */
import { authorizationSessionKey } from "../store_keys.ts";
import { type Entry, readAs, type Reader, type Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import { payerOf, type StoredPayer, storedPayer } from "../consents/stored_consent.ts";
import { type AuthorizationSession, keptUntil } from "./authorization_session.ts";

export interface AuthorizationSessionStore {
  find(correlationId: string, from?: Reader): Promise<Entry<AuthorizationSession> | null>;
  stageOpening(tx: Transaction, session: AuthorizationSession): void;
  /** Stages a change. Of parallel changes, only one commits. */
  stageChange(tx: Transaction, former: Entry<AuthorizationSession>, changed: AuthorizationSession): void;
}

/** The accounts of the payer are stored as in a consent. */
interface StoredSession extends Omit<AuthorizationSession, "payer"> {
  readonly payer?: StoredPayer;
}

export function openAuthorizationSessionStore(store: Store): AuthorizationSessionStore {
  return {
    find: async (correlationId, from = store) =>
      readAs(sessionOf, await from.get<StoredSession>(authorizationSessionKey(correlationId))),
    stageOpening(tx, session) {
      check(tx, authorizationSessionKey(session.correlationId), null);
      const key = authorizationSessionKey(session.correlationId);
      set(tx, key, storedSession(session), keptUntil(session));
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      set(tx, former.key, storedSession(changed), keptUntil(changed));
    },
  };
}

function storedSession({ payer, ...session }: AuthorizationSession): StoredSession {
  return payer === undefined ? session : { ...session, payer: storedPayer(payer) };
}

function sessionOf({ payer, ...session }: StoredSession): AuthorizationSession {
  return payer === undefined ? session : { ...session, payer: payerOf(payer) };
}

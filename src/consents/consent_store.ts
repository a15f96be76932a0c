/** Consents. A change is staged against the version it was decided on: of parallel decisions one commits. */
import type { ConsentId } from "../kernel/identifiers.ts";
import { record } from "../observability/audit_trail.ts";
import { consentKey } from "../store/keys.ts";
import type { Entry, Store } from "../store/store.ts";
import { check, set, type Transaction } from "../store/transaction.ts";
import type { Consent } from "./consent.ts";

/** Who caused a change and why, for the consent's history. */
export interface Cause {
  readonly actor: string;
  readonly reason: string;
}

/** Reads and stages consents. */
export interface ConsentStore {
  find(id: ConsentId): Promise<Entry<Consent> | null>;
  stageCreation(tx: Transaction, consent: Consent, cause: Cause): void;
  /** Stages the changed consent in place of `former`; the commit fails if it changed meanwhile. */
  stageChange(tx: Transaction, former: Entry<Consent>, changed: Consent, cause: Cause, at: number): void;
}

/** Opens the store of consents. */
export function openConsentStore(store: Store): ConsentStore {
  return {
    find: (id) => store.get<Consent>(consentKey(id)),
    stageCreation(tx, consent, cause) {
      check(tx, consentKey(consent.id), null);
      set(tx, consentKey(consent.id), consent);
      record(tx, consent.id, { at: consent.createdAt, event: `consent.${consent.status}`, ...cause });
    },
    stageChange(tx, former, changed, cause, at) {
      check(tx, former.key, former.version);
      set(tx, former.key, changed);
      record(tx, changed.id, { at, event: `consent.${changed.status}`, ...cause });
    },
  };
}

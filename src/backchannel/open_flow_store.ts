/** Whether a customer is at the bank for a consent right now: only then may the bank report accounts (Decision C11). */
import type { Clock } from "../kernel/clock.ts";
import { asConsentId, type ConsentId } from "../kernel/identifiers.ts";
import { openFlowKey } from "../store/keys.ts";
import type { Key, Reader, Store } from "../store/store.ts";

/** Looks for an open flow. */
export interface OpenFlowStore {
  isOpen(consent: ConsentId, from?: Reader): Promise<boolean>;
}

/** What lies under the key; `frontchannel/interaction_store.ts` writes it. */
export interface OpenFlow {
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** The key of the flow of the consent that a path names: what to read ahead. */
export function openFlowAhead(idText: unknown): readonly Key[] {
  const id = asConsentId(idText);
  return id === undefined ? [] : [openFlowKey(id)];
}

/** Opens it. */
export function openOpenFlowStore(store: Store, clock: Clock): OpenFlowStore {
  return {
    async isOpen(consent, from = store) {
      const flow = await from.get<OpenFlow>(openFlowKey(consent));
      return flow !== null && clock() < flow.value.expiresAt;
    },
  };
}

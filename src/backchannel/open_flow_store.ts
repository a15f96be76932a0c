/** Whether a customer is at the bank for a consent right now: only then may the bank report accounts (Decision C11). */
import type { Clock } from "../kernel/clock.ts";
import type { ConsentId } from "../kernel/identifiers.ts";
import { openFlowKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Looks for an open flow. */
export interface OpenFlowStore {
  isOpen(consent: ConsentId): Promise<boolean>;
}

/** What lies under the key; `frontchannel/interaction_store.ts` writes it. */
export interface OpenFlow {
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** Opens it. */
export function openOpenFlowStore(store: Store, clock: Clock): OpenFlowStore {
  return {
    async isOpen(consent) {
      const flow = await store.get<OpenFlow>(openFlowKey(consent));
      return flow !== null && clock() < flow.value.expiresAt;
    },
  };
}

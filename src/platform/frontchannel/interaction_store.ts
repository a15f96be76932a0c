/** Interactions by correlation id. Each change is staged against the version it was decided on. */
import { interactionKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import { type Interaction, keptUntil } from "./interaction.ts";

/** Reads and stages interactions. */
export interface InteractionStore {
  find(correlationId: string, from?: Reader): Promise<Entry<Interaction> | null>;
  /** Stages a fresh interaction. */
  stageOpening(tx: Transaction, interaction: Interaction): void;
  /** Stages a change; of parallel ones, one commits. */
  stageChange(tx: Transaction, former: Entry<Interaction>, changed: Interaction): void;
}

/** Opens the store of interactions. */
export function openInteractionStore(store: Store): InteractionStore {
  return {
    find: (correlationId, from = store) => from.get<Interaction>(interactionKey(correlationId)),
    stageOpening(tx, interaction) {
      check(tx, interactionKey(interaction.correlationId), null);
      set(tx, interactionKey(interaction.correlationId), interaction, keptUntil(interaction));
    },
    stageChange(tx, former, changed) {
      check(tx, former.key, former.version);
      set(tx, former.key, changed, keptUntil(changed));
    },
  };
}

/** The event with which a party is told of a change of a dispute (contract DSP6). */
import type { Transaction } from "../../../base/store/transaction.ts";
import { DISPUTE_PATH, filledPath } from "../../config/paths.ts";
import { bankAsOwner, type EventStore } from "../../events/event_store.ts";
import type { Dispute, DisputeParty } from "./dispute.ts";

export interface DisputeNoticeDeps {
  readonly events: Pick<EventStore, "stageNotice">;
  readonly baseUrl: string;
}

export function stageDisputeNotice(
  { events, baseUrl }: DisputeNoticeDeps,
  tx: Transaction,
  to: DisputeParty,
  { clientId, bank, paymentId, consentId, status, updatedAt, position }: Dispute,
): void {
  const owner = to === "TPP" ? { clientId, bank } : bankAsOwner({ code: bank });
  events.stageNotice(tx, owner, { position, resource: `b-${paymentId}` }, {
    type: "dispute-changed",
    status,
    at: updatedAt,
    about: "domestic-payment",
    link: `${baseUrl}${filledPath(DISPUTE_PATH, { bank, paymentId })}`,
    details: { consent_id: consentId },
  });
}

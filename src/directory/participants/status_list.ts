/**
 * The status list: one public document with the status of every organisation and software, and a version that changes
 * with its key sets and its statement. Relying parties fetch it every few seconds.
 */
import type { Store } from "../../base/store/store.ts";
import type { Participant } from "./participant.ts";
import { listParticipants, participantsVersion } from "./participant_store.ts";

/** Returns the document. It is rebuilt only after a change. */
export type StatusListText = () => Promise<string>;

interface Made {
  readonly version: string;
  readonly text: Promise<string>;
}

/** Opens the list over the store; it includes changes by other processes. */
export function openStatusList(store: Store): StatusListText {
  let made: Made | undefined;
  return async () => {
    const version = await participantsVersion(store); // read before the participants, so that a concurrent change is noticed at the next call
    if (made?.version !== version) {
      const text = listParticipants(store).then(statusList);
      text.catch(() => made = undefined);
      made = { version, text };
    }
    return await made.text;
  };
}

function statusList(participants: readonly Participant[]): string {
  return JSON.stringify({ participants: participants.map(statusLine) });
}

function statusLine({ orgId, status, software, historyLength }: Participant): Record<string, unknown> {
  return {
    org_id: orgId,
    org_status: status,
    software_client_id: software.clientId,
    software_client_status: software.status,
    version: historyLength, // every change of keys, statuses and statements adds a history entry
    statement_issued_at: software.statementIat,
  };
}

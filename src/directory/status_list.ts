/**
 * The status list: one public document that shows for every organisation and software whether it is active, with a
 * version that changes with its key sets and its statement. Relying parties fetch it every few seconds.
 */
import type { Store } from "../base/store/store.ts";
import type { Participant } from "./participant.ts";
import { listParticipants, participantsVersion } from "./participant_store.ts";

/** Gives the document's text. It is made anew only after a change, however often it is asked for. */
export type StatusListText = () => Promise<string>;

interface Made {
  readonly version: string;
  readonly text: Promise<string>;
}

/** Opens the list over the store; other processes' changes count as well. */
export function openStatusList(store: Store): StatusListText {
  let made: Made | undefined;
  return async () => {
    const version = await participantsVersion(store); // before the participants: a change meanwhile is seen next time
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
    version: historyLength, // every change of keys, statuses and statements adds to the history
    statement_issued_at: software.statementIat,
  };
}

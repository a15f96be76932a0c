/**
 * The status list: one public document with the status of every organisation and software, and a version that changes
 * with its key sets and its statement. Relying parties fetch it every few seconds.
 */
import type { Store } from "../../base/store/store.ts";
import type { Participant } from "./participant.ts";
import { listParticipants, participantsVersion } from "./participant_store.ts";

interface Made<T> {
  readonly version: string;
  readonly document: Promise<T>;
}

/** Returns the status list. */
export function openStatusList(store: Store): () => Promise<string> {
  return openMadeOfAll(store, statusList);
}

/**
 * Returns what is made of all participants, for a public document. It is made again only after a change, also one by
 * another process.
 */
export function openMadeOfAll<T>(
  store: Store,
  make: (participants: readonly Participant[]) => T,
): () => Promise<T> {
  let made: Made<T> | undefined;
  return async () => {
    const version = await participantsVersion(store); // read before the participants, so that a concurrent change is noticed at the next call
    if (made?.version !== version) {
      const document = listParticipants(store).then(make);
      document.catch(() => made = undefined);
      made = { version, document };
    }
    return await made.document;
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

/**
 * Finds the owners of events that wait, without a look at those that have none. The first pass reads all of them, and each
 * later one a part. So it finds what another process has left, and costs the same for any number of subscriptions.
 */
import { openRequestReads } from "../../base/store/request_reads.ts";
import type { Key, Store } from "../../base/store/store.ts";
import { asBankCode, asClientId } from "../../base/kernel/identifiers.ts";
import type { EventOwner, NoticeOwner } from "./event_store.ts";
import { findSubscription, listClientSubscriptions } from "./subscription_store.ts";
import { eventRecord, noticeRecord } from "./event.ts";

/** Rows that a pass reads at a time. An owner's further rows are passed over. */
const ROWS = 20;
/** Reads of a pass: 400 owners with an event each, or 20 with a backlog. */
const READS = 20;
/** Bounds the pass that reads all events. */
const MAX_READS = 100_000;
/** Returns a function that returns the next owners that have a callback address for their events. */
export function openEventOwners(store: Store): (isStopped: () => boolean) => Promise<readonly EventOwner[]> {
  let [isComplete, place]: [boolean, OwnersPlace | undefined] = [false, undefined];
  return async (isStopped) => {
    const found = new Map<string, NoticeOwner>();
    for (let read = 0; read < (isComplete ? READS : MAX_READS) && !isStopped(); read++) {
      const { owners, next } = await listOwners(store, place);
      for (const owner of owners) found.set(`${owner.clientId} ${owner.bank ?? ""}`, owner);
      place = next;
      if (next !== undefined) continue;
      isComplete = true;
      break;
    }
    return await listReceivers(store, [...found.values()]);
  };
}

/** A notice for every bank is pushed at each bank at which its TPP takes pushes. */
async function listReceivers(store: Store, owners: readonly NoticeOwner[]): Promise<readonly EventOwner[]> {
  const reads = openRequestReads(store);
  const found = await Promise.all(
    owners.map(async ({ clientId, bank }) =>
      bank === undefined
        ? await listClientSubscriptions(store, clientId)
        : [(await findSubscription(reads, { clientId, bank }))?.value]
    ),
  );
  return found.flat().flatMap((subscription) =>
    subscription?.callbackUrl === undefined
      ? []
      : { clientId: subscription.clientId, bank: subscription.bank }
  );
}

/** A family of records, and the key behind which the next part of it begins. */
interface OwnersPlace {
  readonly family: string;
  readonly after?: Key;
}

/** Sorts after every position and id. */
const AFTER_EVERY_PLACE = "~";

/** Returns TPPs and banks with events after a place, from {@link ROWS}, and where the next ones begin. */
async function listOwners(
  store: Store,
  place: OwnersPlace | undefined,
): Promise<{ readonly owners: readonly NoticeOwner[]; readonly next: OwnersPlace | undefined }> {
  const { family, after }: OwnersPlace = place ?? { family: eventRecord.name };
  const rows = await store.list({ prefix: [family], ...(after === undefined ? {} : { after }), limit: ROWS });
  const owners = rows.flatMap(({ key: [, client, code] }): readonly NoticeOwner[] => {
    const [clientId, bank] = [asClientId(client), asBankCode(code)];
    if (clientId === undefined) return []; // a bank's own, which it polls
    return [bank === undefined ? { clientId } : { clientId, bank }];
  });
  const last = rows.at(-1);
  if (rows.length === ROWS && last !== undefined) {
    return { owners, next: { family, after: [...last.key.slice(0, 3), AFTER_EVERY_PLACE] } };
  }
  return { owners, next: family === noticeRecord.name ? undefined : { family: noticeRecord.name } };
}

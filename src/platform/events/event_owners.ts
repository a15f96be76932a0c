/**
 * Finds the owners of events that wait, without a look at those that have none. The first pass reads all of them, and each
 * later one a part. So it finds what another process has left, and costs the same for any number of subscriptions.
 */
import { openRequestReads } from "../../base/store/request_reads.ts";
import type { Store } from "../../base/store/store.ts";
import { ownersAfter, type OwnersPlace } from "./event_owner_store.ts";
import type { EventOwner, NoticeOwner } from "./event_store.ts";
import { findSubscription, listClientSubscriptions } from "./subscription_store.ts";

export interface EventOwners {
  /** Returns the next owners that have a callback address for their events. */
  next(isStopped: () => boolean): Promise<readonly EventOwner[]>;
}

export interface EventOwnersDeps {
  readonly store: Store;
}

/** Rows that a pass reads at a time. An owner's further rows are passed over. */
const ROWS = 20;
/** Reads of a pass: 400 owners with an event each, or 20 with a backlog. */
const READS = 20;
/** Bounds the pass that reads all events. */
const MAX_READS = 100_000;
export function openEventOwners(deps: EventOwnersDeps): EventOwners {
  let [isComplete, place]: [boolean, OwnersPlace | undefined] = [false, undefined];
  return {
    async next(isStopped) {
      const found = new Map<string, NoticeOwner>();
      for (let read = 0; read < (isComplete ? READS : MAX_READS) && !isStopped(); read++) {
        const { owners, next } = await ownersAfter(deps.store, place, ROWS);
        for (const owner of owners) found.set(`${owner.clientId} ${owner.bank ?? ""}`, owner);
        place = next;
        if (next !== undefined) continue;
        isComplete = true;
        break;
      }
      return await receivers(deps, [...found.values()]);
    },
  };
}

/** A notice for every bank is pushed at each bank at which its TPP takes pushes. */
async function receivers(
  { store }: EventOwnersDeps,
  owners: readonly NoticeOwner[],
): Promise<readonly EventOwner[]> {
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

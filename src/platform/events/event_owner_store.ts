/** Lists the owners of events that wait, by the keys of the events. */
import { asBankCode, asClientId } from "../../base/kernel/identifiers.ts";
import type { Key, Store } from "../../base/store/store.ts";
import { eventRecord, noticeRecord } from "./event.ts";
import type { NoticeOwner } from "./event_store.ts";

/** A family of records, and the key behind which the next part of it begins. */
export interface OwnersPlace {
  readonly family: string;
  readonly after?: Key;
}

/** Sorts after every position and id. */
const AFTER_EVERY_PLACE = "~";

/** Returns TPPs and banks with events after a place, from so many rows, and where the next ones begin. */
export async function ownersAfter(
  store: Store,
  place: OwnersPlace | undefined,
  limit: number,
): Promise<{ readonly owners: readonly NoticeOwner[]; readonly next: OwnersPlace | undefined }> {
  const { family, after }: OwnersPlace = place ?? { family: eventRecord.name };
  const rows = await store.list({ prefix: [family], ...(after === undefined ? {} : { after }), limit });
  const owners = rows.flatMap(({ key: [, client, code] }): readonly NoticeOwner[] => {
    const [clientId, bank] = [asClientId(client), asBankCode(code)];
    if (clientId === undefined) return []; // a bank's own, which it polls
    return [bank === undefined ? { clientId } : { clientId, bank }];
  });
  const last = rows.at(-1);
  if (rows.length === limit && last !== undefined) {
    return { owners, next: { family, after: [...last.key.slice(0, 3), AFTER_EVERY_PLACE] } };
  }
  return { owners, next: family === noticeRecord.name ? undefined : { family: noticeRecord.name } };
}

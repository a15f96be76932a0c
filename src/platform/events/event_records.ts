/**
 * The records of events. Notices have records of their own, because a version of the platform without notices reads every
 * record of the other events that it lists.
 */
import { z } from "zod";
import { defineRecord, optional, type StoredRecord } from "../../base/store/record.ts";
import { consentId, count, flag, instant, text } from "../../base/store/record_fields.ts";
import type { Entry, Key } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { eventKey, finishedEventKey, noticeKey, timePart } from "../config/store_keys.ts";
import {
  EVENT_TYPES,
  type EventPlace,
  type NoticeEvent,
  scopeOf,
  type StatusChange,
  type StatusEvent,
  type StoredEvent,
} from "./event.ts";

type Owner = Pick<StatusChange, "clientId" | "bank">;
type Finished<T> = Omit<T, "failures" | "retryAt" | "push">;

/** An event that its TPP has acknowledged: what its token is made of. */
export type FinishedEvent = Finished<StatusEvent> | Finished<NoticeEvent>;

const statusEvent = {
  type: z.enum(EVENT_TYPES),
  consentId,
  status: text,
  reason: optional(text),
  at: instant,
  stagedAt: instant,
  interactionId: optional(text),
};

const notice = {
  type: text,
  status: text,
  at: instant,
  about: text,
  link: text,
  details: z.record(z.string(), z.union([text, count])),
  stagedAt: instant,
  interactionId: optional(text),
};

const delivery = {
  failures: optional(count),
  retryAt: optional(instant),
  push: optional(z.looseObject({
    failures: count,
    rejections: optional(count),
    dueAt: instant,
    isLeased: optional(z.literal(true)),
    dead: flag,
    why: optional(text),
  })),
};

const place = ["client id", "bank code", "position in the history (ms)", "consent id or payment id"];
const noticePlace = [
  "client id",
  "bank code, or `-` for every bank",
  "position (ms)",
  "`b-` or `t-` and an id",
];

export const eventRecord = defineRecord<StatusEvent>({
  name: "event",
  keyParts: place,
  what: "A change of a consent or a payment that its TPP has not acknowledged. A reason is sealed.",
  schema: z.looseObject({ ...statusEvent, ...delivery }),
  version: 1,
  lifetime: "Until it is acknowledged, at most `PLATFORM_EVENT_DAYS`.",
  personalData: "customer",
  retention: "protocol",
});

export const finishedEventRecord = defineRecord<Finished<StatusEvent>>({
  name: "event_finished",
  keyParts: place,
  what: "An event that its TPP has acknowledged, for a replay. A reason is sealed.",
  schema: z.looseObject(statusEvent),
  version: 1,
  lifetime: "At most `PLATFORM_EVENT_DAYS` from the change.",
  personalData: "customer",
  retention: "protocol",
});

export const noticeRecord = defineRecord<NoticeEvent>({
  name: "event_notice",
  keyParts: noticePlace,
  what:
    "What a TPP is told of an outage or an expiring key, or a bank of a consent or payment, not acknowledged.",
  schema: z.looseObject({ ...notice, ...delivery }),
  version: 1,
  lifetime: "Until it is acknowledged, at most `PLATFORM_EVENT_DAYS`.",
  personalData: "pseudonymous",
  retention: "protocol",
});

export const finishedNoticeRecord = defineRecord<Finished<NoticeEvent>>({
  name: "event_notice_finished",
  keyParts: noticePlace,
  what: "A notice that its TPP or bank has acknowledged, for a replay.",
  schema: z.looseObject(notice),
  version: 1,
  lifetime: "At most `PLATFORM_EVENT_DAYS` from the change.",
  personalData: "pseudonymous",
  retention: "protocol",
});

/** Returns the record of an event that waits, which its key names. */
export function recordAt([family]: Key): Pick<StoredRecord<StoredEvent>, "get" | "decode"> {
  return family === noticeRecord.name ? noticeRecord : eventRecord;
}

/** Stages an event that waits. `expiresAt` is in milliseconds. */
export function stageWaiting(tx: Transaction, key: Key, event: StoredEvent, expiresAt: number): void {
  if ("consentId" in event) eventRecord.set(tx, key, event, expiresAt);
  else noticeRecord.set(tx, key, event, expiresAt);
}

/** Stages an acknowledged event, by its key before. `expiresAt` is in milliseconds. */
export function stageFinished(tx: Transaction, former: Key, event: FinishedEvent, expiresAt: number): void {
  const key = finishedEventKey(former);
  if ("consentId" in event) finishedEventRecord.set(tx, key, event, expiresAt);
  else finishedNoticeRecord.set(tx, key, event, expiresAt);
}

/** Decodes an acknowledged event of a listing. */
export function decodeFinished(entry: Entry<unknown>): Entry<FinishedEvent> {
  return entry.key[0] === finishedNoticeRecord.name
    ? finishedNoticeRecord.decode(entry)
    : finishedEventRecord.decode(entry);
}

/** Returns the key of the owner's event at a place. */
export function keyOf({ clientId, bank }: Owner, place: EventPlace): Key {
  const { position, resource } = place;
  const scope = scopeOf(place);
  return scope === "case"
    ? eventKey(clientId, bank, position, resource)
    : noticeKey(clientId, scope === "bank" ? bank : undefined, position, resource);
}

/** Returns the prefixes of everything that polls of the owner return. */
export function prefixesOf({ clientId, bank }: Owner): readonly Key[] {
  return [eventKey(clientId, bank), noticeKey(clientId, bank), noticeKey(clientId, undefined)];
}

/** Returns the key below a prefix behind which a listing continues. */
export function afterPlace(prefix: Key, { position, resource }: EventPlace): Key {
  return [...prefix, timePart(position), ...(resource === "" ? [] : [resource])];
}

/** Reads the place of an event from its key. */
export function placeIn(key: Key): EventPlace {
  const [position = "", resource = ""] = key.slice(-2);
  return { position: Number(position), resource };
}

/** The order of the keys of one prefix, for those of several. */
export function byPlace(one: EventPlace, other: EventPlace): number {
  if (one.position !== other.position) return one.position - other.position;
  return one.resource < other.resource ? -1 : 1;
}

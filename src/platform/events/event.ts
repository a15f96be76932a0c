/** Events: what a TPP is told about its consents and payments, and notices (contract EVT1, EVT17). No I/O. */
import type { WallTime } from "../../base/kernel/clock.ts";
import {
  type BankCode,
  type ClientId,
  type ConsentId,
  isUuid,
  type PaymentId,
} from "../../base/kernel/identifiers.ts";
import { z } from "zod";
import {
  consentId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  type StoredRecord,
  text,
} from "../../base/store/record.ts";
import type { Entry, Key } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { REASON_CODES, type ReasonCode } from "../../base/values/reason_codes.ts";
import { eventKey, finishedEventKey, noticeKey, timePart } from "../config/store_keys.ts";

/** The last segment of the event's identifier. A type is never renamed, because TPPs read it. */
export const EVENT_TYPES = [
  "consent-authorised",
  "consent-rejected",
  "consent-expired",
  "consent-consumed",
  "payment-status-changed",
] as const;
export type EventType = typeof EVENT_TYPES[number];

/** Notices about a bank, for every TPP. The last segment of the event's identifier, and never renamed. */
export const BANK_NOTICE_TYPES = [
  "outage-announced",
  "outage-changed",
  "outage-withdrawn",
  "bank-state-changed",
] as const;
export type BankNoticeType = typeof BANK_NOTICE_TYPES[number];

/** Events about no consent or payment. The last segment of the event's identifier, and never renamed. */
export type NoticeType =
  | "software-statement-expiring"
  | "key-expiring"
  | "certificate-expiring"
  | "dispute-changed"
  | BankNoticeType
  | BankEventType;

/** The types of notices to banks (contract EVT19). */
export type BankEventType = "consent-rejected" | "consent-expired" | "payment-closed";

/** A change of status, as the slice that stages it knows it. */
export interface StatusChange {
  readonly type: EventType;
  /** The id of the consent or the payment. */
  readonly resource: ConsentId | PaymentId;
  readonly consentId: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly status: string;
  /** The code of the reason of a rejection (contract RSN3). */
  readonly reasonCode?: ReasonCode;
  /** The bank's or the operator's reason of a rejected payment. It may name a person, so it is sealed in the store. */
  readonly reason?: string;
  /** When the status began, milliseconds. */
  readonly at: WallTime;
  /** Of the entry in the history of the resource, milliseconds. It grows with every entry of that history. */
  readonly position: number;
  /** The type of the bank's notice of the change; absent if it gets none. */
  readonly forBank?: BankEventType;
}

/** Returns the members that say why, of which there may be none. */
export function whyOf(
  { reasonCode, reason }: { readonly [Name in "reasonCode" | "reason"]?: StatusChange[Name] | undefined },
): Pick<StatusChange, "reasonCode" | "reason"> {
  return { ...(reasonCode === undefined ? {} : { reasonCode }), ...(reason === undefined ? {} : { reason }) };
}

/** A notice: to a TPP about a bank, a key or a statement, or to a bank about a consent or payment. */
export interface Notice {
  readonly type: NoticeType;
  readonly status: string;
  /** When the status began, milliseconds. */
  readonly at: WallTime;
  /** OBIE's type of the resource, such as `planned-outage`. */
  readonly about: string;
  /** Where the TPP can read of it. */
  readonly link: string;
  /** The other members of the event. They name no person. */
  readonly details: Readonly<Record<string, string | number>>;
}

/** The members that delivery adds to an event. */
interface Delivered {
  /** Milliseconds. */
  readonly stagedAt: WallTime;
  /** Of the request that caused the change; absent if none did. */
  readonly interactionId?: string;
  /** How often its TPP has reported that it could not use the event. */
  readonly failures?: number;
  /** Milliseconds. It is not returned by a poll before. */
  readonly retryAt?: WallTime;
  /** Of its pushes; absent before the first one. */
  readonly push?: PushState;
}

/** The event of a change of status as stored. Its key has the client, the bank, the position and the resource. */
export interface StatusEvent
  extends Pick<StatusChange, "type" | "consentId" | "status" | "reasonCode" | "reason" | "at">, Delivered {}

/** A notice as stored. A later version of the platform may have stored one of a type that this one does not know. */
export interface NoticeEvent extends Omit<Notice, "type">, Delivered {
  readonly type: string;
}

export type StoredEvent = StatusEvent | NoticeEvent;

/** The state of an event's push. A poll returns the event in every state. */
export interface PushState {
  /** Number of failed pushes. */
  readonly failures: number;
  /** Of those, the ones that the receiver has rejected. */
  readonly rejections: number;
  /**
   * A process moves it ahead before it pushes the event, so that no other process
   * pushes it at the same time. For a dead event: when it became dead.
   */
  readonly dueAt: WallTime;
  /** A process pushes it now, until `dueAt` at most. */
  readonly isLeased?: true;
  /** Whether pushes have ended. A replay or an operator begins them again. */
  readonly dead: boolean;
  /** The platform's description of the last failed push, with the receiver's error code if it sent one. */
  readonly why?: string;
}

/** The place of an event among those of one client at one bank. */
export interface EventPlace {
  readonly position: number;
  /** The id of the consent or payment; of a notice, a {@link NoticeId}. */
  readonly resource: string;
}

/** `b-` and a UUID for a notice about the bank, `t-` and a UUID for one about the TPP, which every bank's polls return. */
export type NoticeId = `${"b" | "t"}-${string}`;

/** Longest `jti` of any transmitter, characters (OBIE Event Notification 4.0.1). */
export const MAX_JTI_CHARACTERS = 128;
const JTI = /^([1-9]\d{0,14})-((?:[bt]-)?(.{36}))$/;

/** Returns the `jti` of an event. It is the event's place, so it is the same each time that the event is sent. */
export function jtiOf({ position, resource }: EventPlace): string {
  return `${position}-${resource}`;
}

/** Returns undefined for a `jti` that {@link jtiOf} has not made. */
export function parseJti(jti: string): EventPlace | undefined {
  const [, position = "", resource = "", id = ""] = JTI.exec(jti) ?? [];
  return isUuid(id) ? { position: Number(position), resource } : undefined;
}

/** Returns the UUID of what the event is about. */
export function idOf({ resource }: EventPlace): string {
  return resource.slice(-36);
}

/** Whom a place's event is for: the client at one bank, or at every bank. */
export function scopeOf({ resource }: EventPlace): "case" | "bank" | "tpp" {
  return resource.startsWith("b-") ? "bank" : resource.startsWith("t-") ? "tpp" : "case";
}

const MAX_PAUSE_SECONDS = 512;

/** Returns the event after its TPP has reported an error with it at `now`, milliseconds: pauses of 1, 2, 4 … 512 s. */
export function afterError(event: StoredEvent, now: WallTime): StoredEvent {
  const failures = (event.failures ?? 0) + 1;
  return { ...event, failures, retryAt: now + Math.min(2 ** (failures - 1), MAX_PAUSE_SECONDS) * 1000 };
}

// The records of events. Notices have other members, so they have records of their own.

type Owner = Pick<StatusChange, "clientId" | "bank">;
type Finished<T> = Omit<T, "failures" | "retryAt" | "push">;

/** An event that its TPP has acknowledged: what its token is made of. */
export type FinishedEvent = Finished<StatusEvent> | Finished<NoticeEvent>;

const statusEvent = {
  type: z.enum(EVENT_TYPES),
  consentId,
  status: text,
  reasonCode: optional(z.enum(REASON_CODES)),
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
    rejections: count,
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
  restore: "kept",
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
  restore: "kept",
});

export const noticeRecord = defineRecord<NoticeEvent>({
  name: "event_notice",
  keyParts: noticePlace,
  what:
    "What a TPP is told of a bank or an expiring key, or a bank of a consent or payment, not acknowledged.",
  schema: z.looseObject({ ...notice, ...delivery }),
  version: 1,
  lifetime: "Until it is acknowledged, at most `PLATFORM_EVENT_DAYS`.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
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
  restore: "kept",
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

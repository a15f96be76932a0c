/** Events: what a TPP is told about its consents and payments, and notices (contract EVT1, EVT17). No I/O. */
import type { WallTime } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../../base/kernel/identifiers.ts";
import { isUuid } from "../../base/kernel/identifiers.ts";

/** The last segment of the event's identifier. A type is never renamed, because TPPs read it. */
export const EVENT_TYPES = [
  "consent-authorised",
  "consent-rejected",
  "consent-expired",
  "consent-consumed",
  "payment-status-changed",
] as const;
export type EventType = typeof EVENT_TYPES[number];

/** Events about no consent or payment. The last segment of the event's identifier, and never renamed. */
export type NoticeType =
  | "software-statement-expiring"
  | "key-expiring"
  | "certificate-expiring"
  | "outage-announced"
  | "outage-changed"
  | "outage-withdrawn"
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
  /** The bank's or the operator's reason of a rejected payment. It may name a person, so it is sealed in the store. */
  readonly reason?: string;
  /** When the status began, milliseconds. */
  readonly at: WallTime;
  /** Of the entry in the history of the resource, milliseconds. It grows with every entry of that history. */
  readonly position: number;
  /** The type of the bank's notice of the change; absent if it gets none. */
  readonly forBank?: BankEventType;
}

/** A notice: to a TPP about an outage, a key or a statement, or to a bank about a consent or payment. */
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
  extends Pick<StatusChange, "type" | "consentId" | "status" | "reason" | "at">, Delivered {}

/** A notice as stored. A later version of the platform may have stored one of a type that this one does not know. */
export interface NoticeEvent extends Omit<Notice, "type">, Delivered {
  readonly type: string;
}

export type StoredEvent = StatusEvent | NoticeEvent;

/** The state of an event's push. A poll returns the event in every state. */
export interface PushState {
  /** Number of failed pushes. */
  readonly failures: number;
  /** Of those, the ones that the receiver has rejected; absent if a version that does not count them pushed last. */
  readonly rejections?: number;
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
export function placeOf(jti: string): EventPlace | undefined {
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

/** Events: what a TPP is told about its consents and payments (contract EVT1). No I/O. */
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

/** A change of status, as the slice that stages it knows it. */
export interface StatusChange {
  readonly type: EventType;
  /** The id of the consent or the payment. */
  readonly resource: ConsentId | PaymentId;
  readonly consentId: ConsentId;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly status: string;
  /** When the status began, milliseconds. */
  readonly at: number;
  /** Of the entry in the history of the resource, milliseconds. It grows with every entry of that history. */
  readonly position: number;
}

/** An event as stored. Its key has the client, the bank, the position and the resource. */
export interface StoredEvent extends Pick<StatusChange, "type" | "consentId" | "status" | "at"> {
  /** Milliseconds. */
  readonly stagedAt: number;
  /** Of the request that caused the change; absent if none did. */
  readonly interactionId?: string;
  /** How often its TPP has reported that it could not use the event. */
  readonly failures?: number;
  /** Milliseconds. It is not returned by a poll before. */
  readonly retryAt?: number;
  /** Of its pushes; absent before the first one. */
  readonly push?: PushState;
}

/** The state of an event's push. A poll returns the event in every state. */
export interface PushState {
  /** Number of failed pushes. */
  readonly failures: number;
  /** Of those, the ones that the receiver has rejected; absent if a version that does not count them pushed last. */
  readonly rejections?: number;
  /**
   * Milliseconds, by the steady clock. A process moves it ahead before it pushes the event, so that no other process
   * pushes it at the same time. For a dead event: when it became dead.
   */
  readonly dueAt: number;
  /** Whether pushes have ended. A replay or an operator begins them again. */
  readonly dead: boolean;
  /** The platform's description of the last failed push, with the receiver's error code if it sent one. */
  readonly why?: string;
}

/** The place of an event among those of one client at one bank. */
export interface EventPlace {
  readonly position: number;
  readonly resource: string;
}

/** Longest `jti` of any transmitter, characters (OBIE Event Notification 4.0.1). */
export const MAX_JTI_CHARACTERS = 128;
const JTI = /^([1-9]\d{0,14})-(.{36})$/;

/** Returns the `jti` of an event. It is the event's place, so it is the same each time that the event is sent. */
export function jtiOf({ position, resource }: EventPlace): string {
  return `${position}-${resource}`;
}

/** Returns undefined for a `jti` that {@link jtiOf} has not made. */
export function placeOf(jti: string): EventPlace | undefined {
  const [, position = "", resource = ""] = JTI.exec(jti) ?? [];
  return isUuid(resource) ? { position: Number(position), resource } : undefined;
}

const MAX_PAUSE_SECONDS = 512;

/** Returns the event after its TPP has reported an error with it at `now`, milliseconds: pauses of 1, 2, 4 … 512 s. */
export function afterError(event: StoredEvent, now: number): StoredEvent {
  const failures = (event.failures ?? 0) + 1;
  return { ...event, failures, retryAt: now + Math.min(2 ** (failures - 1), MAX_PAUSE_SECONDS) * 1000 };
}

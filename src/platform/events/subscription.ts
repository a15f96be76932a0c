/** A TPP's subscription to its events at one bank (contract EVT9). No I/O. */
import type { WallTime } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";

/** The one event type that a subscription may name: all events of the platform have it (contract EVT2). */
export const SUBSCRIBED_TYPE = "urn:uk:org:openbanking:events:resource-update";
/** The version of OBIE's event notification API. */
export const SUBSCRIBED_VERSION = "4.0";

/** The fields of a subscription that a TPP chooses. */
export interface SubscriptionTerms {
  /** Where events are pushed. Without it they are for polling alone. */
  readonly callbackUrl?: string;
  /** Whether the TPP has named the event type. */
  readonly namesTypes: boolean;
}

/** A subscription. A client has at most one at a bank. */
export interface Subscription extends SubscriptionTerms {
  /** A UUID. */
  readonly id: string;
  readonly clientId: ClientId;
  readonly bank: BankCode;
  /** Milliseconds. */
  readonly createdAt: WallTime;
  /** Milliseconds. */
  readonly updatedAt: WallTime;
}

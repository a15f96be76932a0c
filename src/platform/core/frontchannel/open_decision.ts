/** A decision that the platform's screen asks for, and the customer's choice. */
import type { Parties } from "../../../base/values/parties.ts";
import type { PayerAccount, ReadableConsent } from "../consents/consent.ts";
import type { AuthorizationSession } from "./authorization_session.ts";

/** A session of this browser that waits for a decision, or has waited until it expired. */
export interface OpenDecision {
  readonly session: AuthorizationSession;
  readonly consent: ReadableConsent;
  readonly parties: Parties;
  /** The accounts that the customer can choose from. */
  readonly accounts: readonly PayerAccount[];
}

export interface Decision {
  readonly accepted: boolean;
  /** Index of the chosen account in `accounts`. */
  readonly accountIndex: number | undefined;
}

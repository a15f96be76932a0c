/**
 * An authorization code: 60 seconds, one client, one bank, one consent, one PKCE challenge (FAPI 2.0 §5.3.2.1 item
 * 11). No I/O.
 */
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import { isYetToPass, type WallTime } from "../../../base/kernel/clock.ts";
import { CODE_SECONDS, MAX_CODE_FAILURES } from "../../../base/profile.ts";

export interface AuthorizationCode {
  readonly clientId: ClientId;
  /** Which registration of the client has pushed the request. */
  readonly registration: number;
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** The DPoP key that PAR bound it to, if any (RFC 9449 §10). */
  readonly dpopJkt?: string;
  /** Milliseconds. */
  readonly expiresAt: WallTime;
  /** Number of wrong redemptions. */
  readonly failures: number;
  /** Hash of the token that the redemption issued. Set by the redemption. */
  readonly redeemedFor?: string;
}

/** Whether the code can still be redeemed. Does not check the client. */
export function isRedeemable(code: AuthorizationCode, now: WallTime): boolean {
  return isYetToPass(code.expiresAt, now, CODE_SECONDS) && code.failures < MAX_CODE_FAILURES;
}

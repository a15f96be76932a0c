/** The handover JWT that sends the customer to the bank: its claims and the bank's URL (contract HO1 to HO10). */
import { unixSeconds } from "../../../base/kernel/clock.ts";
import { HANDOVER_SECONDS } from "../../../base/profile.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { OpenedSession } from "./authorization_session.ts";
import type { HandoverClaims } from "./handover_representation.ts";

/** Returns the claims. `now` is in milliseconds. */
export function handoverClaims(
  session: OpenedSession,
  parties: { readonly authUrl: string; readonly bank: BankClient; readonly tpp: Client },
  now: number,
): HandoverClaims {
  const iat = unixSeconds(now);
  return {
    iss: parties.authUrl, // Decision A2: the host, which is not an issuer
    aud: parties.bank.orgId, // Decision B3
    iat,
    nbf: iat,
    exp: iat + HANDOVER_SECONDS,
    jti: crypto.randomUUID(),
    debtor_account_present: session.debtorAccountPresent ? "true" : "false",
    ref_id: session.consentId,
    act: { sub: parties.tpp.orgName, registration_no: parties.tpp.clientId }, // Decision B3
    correlation_id: session.correlationId,
    transaction_digest: session.transactionDigest, // contract HO10: a bank that does not know it ignores it
    // Contract HO9: optional. A bank that does not know it ignores it (RFC 7519 §4).
    ...(session.uiLocales === undefined ? {} : { ui_locales: session.uiLocales.join(" ") }),
  };
}

/** Returns `{bank_sca_url}?oAuthUrl=…` with the bank's one registered redirect URL (contract AZ14; Decision A5). */
export function handoverUrl(bank: BankClient, sealed: string): string | undefined {
  const [base] = bank.redirectUris;
  return base === undefined
    ? undefined
    : `${base}${base.includes("?") ? "&" : "?"}${new URLSearchParams({ oAuthUrl: sealed })}`;
}

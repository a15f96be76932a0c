/** Funds confirmation (contract EP8) from the selected account's last known balance. Never changes the consent. */
import { covers } from "../../../base/values/money.ts";
import { type Consent, wrongStatus } from "./consent.ts";

/**
 * Returns whether the balance covers the amount, or undefined if no balance is known or it is in another currency
 * (Decision C8).
 *
 * @throws {ApiError} `resource.invalid_consent_status` unless the consent is `Authorized`
 */
export function confirmFunds(consent: Consent): boolean | undefined {
  if (consent.status !== "Authorized") {
    throw wrongStatus("funds confirmation", consent.status, ["Authorized"]);
  }
  const { amount, currency } = consent.request.initiation.instructedAmount;
  const account = consent.selectedAccount;
  if (account?.balance === undefined) return undefined;
  if ((account.currency ?? currency) !== currency) return undefined;
  return covers(account.balance, amount);
}

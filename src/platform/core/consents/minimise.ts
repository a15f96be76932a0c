/** Removes personal data that the status of a consent does not need any more (contract EN9). No I/O. */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Erased } from "../../evidence/personal_data.ts";
import type { Consent, ErasedConsent, Payer, PayerAccount } from "./consent.ts";
import { reportPlace } from "./payer_accounts_store.ts";

/**
 * Returns the consent as it is stored: after the decision without the accounts that the bank reported, and after its use
 * or rejection without the balance of the chosen one, which funds confirmations read until then.
 */
export function minimised(consent: Consent): Consent {
  const { payer, selectedAccount, ...rest } = consent;
  if (rest.status === "AwaitingAuthorisation") return consent;
  const known = payer === undefined ? {} : { payer: withoutAccounts(payer) };
  if (selectedAccount === undefined) return { ...rest, ...known };
  const account = rest.status === "Authorized" ? selectedAccount : withoutBalance(selectedAccount);
  return { ...rest, ...known, selectedAccount: account };
}

/**
 * Returns the places of the bank's reports that a decision deletes: all, except one that has only the chosen account and
 * no balance.
 */
export function reportsToDelete(former: Consent, changed: Consent): readonly string[] {
  const { payer } = former;
  if (former.status !== "AwaitingAuthorisation" || changed.status === former.status) return [];
  const [account, ...more] = payer?.accounts ?? [];
  const isMinimal = account !== undefined && more.length === 0 && account.balance === undefined;
  const keeps = isMinimal && changed.status === "Authorized";
  const count = (payer?.report ?? 0) - (keeps ? 1 : 0);
  return Array.from({ length: Math.max(0, count) }, (_, index) => reportPlace(former.id, index + 1));
}

/**
 * Returns a consent that was never authorised without the data of its customer: amount and currency stay of the request.
 *
 * @param at milliseconds
 */
export function forgotten(
  { payer: _, request, ...consent }: Consent,
  at: WallTime,
  scope: Exclude<Erased["scope"], "key">,
): ErasedConsent {
  const { instructedAmount } = request.initiation;
  // Participants cannot read it any more, so no code needs the required members.
  const initiation = { instructedAmount } as Consent["request"]["initiation"];
  return {
    ...consent,
    request: { initiation, risk: {} as Consent["request"]["risk"] },
    personalData: { state: "erased", at, scope },
  };
}

function withoutAccounts({ accounts: _, ...payer }: Payer): Payer {
  return payer;
}

function withoutBalance({ balance: _, ...account }: PayerAccount): PayerAccount {
  return account;
}

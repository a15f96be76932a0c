/** The bank's own consent screen: the payment, and the customer's accounts to choose one from. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankProfile } from "./bank_profile.ts";
import type { CustomerAccount } from "./customers.ts";
import type { Balances } from "./ledger.ts";
import { minorUnits } from "./money.ts";
import { Complaint, PageFrame, VisitFields } from "./page_frame.tsx";
import { amountText, groupedIban, PaymentSummary } from "./payment_summary.tsx";
import type { ScaSession } from "./sessions.ts";

/** What the page shows. */
export interface ConsentPageProps {
  readonly profile: BankProfile;
  readonly session: ScaSession;
  readonly accounts: readonly CustomerAccount[];
  readonly balances: Balances;
}

/** Page at step `consent`. */
export function ConsentPage({ profile, session, accounts, balances }: ConsentPageProps): JSX.Element {
  const { handover, consent, csrf, message } = session;
  const remarks = accounts.map((account) => remarkOn(account, balances, consent.InstructedAmount));
  const preselected = remarks.indexOf(undefined);
  return (
    <PageFrame owner={profile.displayName} title="Authorise the payment">
      <PaymentSummary tppName={handover.tppName} consent={consent} />
      <form id="consent" method="post">
        <VisitFields csrf={csrf} step="consent" />
        <Complaint id="consent-complaint" message={message} />
        <fieldset>
          <legend>Pay from</legend>
          {accounts.map((account, index) => (
            <AccountChoice
              account={account}
              balance={balances.of(account)}
              remark={remarks[index]}
              id={`account-${index}`}
              checked={index === preselected}
            />
          ))}
        </fieldset>
        <div class="actions">
          <button type="submit" name="decision" value="accept">Authorise</button>
          <button type="submit" name="decision" value="refuse" class="quiet" formnovalidate>Refuse</button>
        </div>
      </form>
    </PageFrame>
  );
}

interface AccountChoiceProps {
  readonly id: string;
  readonly account: CustomerAccount;
  readonly balance: string;
  readonly remark: string | undefined;
  readonly checked: boolean;
}

function AccountChoice({ id, account, balance, remark, checked }: AccountChoiceProps): JSX.Element {
  return (
    <div class="choice">
      <input id={id} type="radio" name="account" value={account.identification} checked={checked} required />
      <label for={id}>
        <span class="choice-name">{account.label}</span>
        <span class="number">{groupedIban(account.identification)}</span>
        <span>{`Balance ${amountText(balance, account.currency)}`}</span>
        {remark === undefined ? null : <span class="remark">{remark}</span>}
      </label>
    </div>
  );
}

/** Why the payment would be rejected from this account, undefined when it would not. It may be chosen all the same. */
function remarkOn(
  account: CustomerAccount,
  balances: Balances,
  amount: { readonly Amount: string; readonly Currency: string },
): string | undefined {
  if (account.currency !== amount.Currency) {
    return `Not in ${amount.Currency}: the payment would be rejected.`;
  }
  const isEnough = (minorUnits(balances.of(account)) ?? 0) >= (minorUnits(amount.Amount) ?? Infinity);
  return isEnough ? undefined : "Not enough money: the payment would be rejected.";
}

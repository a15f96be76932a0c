/** The bank's own consent screen: the payment, and the customer's accounts to choose one from. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatMoney } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import { groupedIban } from "../pages/grouped_iban.ts";
import { accountLabel } from "./account_label.ts";
import { accountId, type CustomerAccount } from "./customers.ts";
import type { Balances } from "./ledger.ts";
import type { VisitPageProps } from "./login_page.tsx";
import { minorUnits } from "./money.ts";
import { Complaint, DecisionButtons, PageFrame, VisitFields } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";
import { PaymentSummary } from "./payment_summary.tsx";

export interface ConsentPageProps {
  readonly reader: VisitPageProps["reader"];
  readonly profile: Pick<VisitPageProps["profile"], "displayName">;
  readonly session: Pick<VisitPageProps["session"], "consent" | "csrf" | "complaint"> & {
    readonly handover: Pick<VisitPageProps["session"]["handover"], "tppName">;
  };
  readonly accounts: readonly CustomerAccount[];
  readonly balances: Balances;
}

type Amount = ConsentPageProps["session"]["consent"]["InstructedAmount"];

/** Page at step `consent`. */
export function ConsentPage({ reader, profile, session, accounts, balances }: ConsentPageProps): JSX.Element {
  const { handover, consent, csrf, complaint } = session;
  const { language } = reader;
  const remarks = accounts.map((account) => remarkOn(language, account, balances, consent.InstructedAmount));
  const preselected = complaint === undefined ? remarks.indexOf(undefined) : -1; // none after a complaint
  return (
    <PageFrame
      reader={reader}
      owner={profile.displayName}
      title={words(language, "consent.title")}
      isFaulty={complaint !== undefined}
    >
      <PaymentSummary language={language} tppName={handover.tppName} consent={consent} />
      <form id="consent" method="post">
        <VisitFields csrf={csrf} step="consent" />
        <Complaint id="consent-complaint" language={language} complaint={complaint} />
        <fieldset>
          <legend>{phrase(language, "consent.payFrom")}</legend>
          {accounts.map((account, index) => (
            <AccountChoice
              language={language}
              account={account}
              balance={balances.of(account)}
              remark={remarks[index]}
              id={`account-${index}`}
              checked={index === preselected}
            />
          ))}
        </fieldset>
        <DecisionButtons language={language} decision="accept" label="code.authorise" reject="code.refuse" />
      </form>
    </PageFrame>
  );
}

interface AccountChoiceProps {
  readonly language: Language;
  readonly id: string;
  readonly account: CustomerAccount;
  readonly balance: string;
  readonly remark: string | undefined;
  readonly checked: boolean;
}

function AccountChoice({ language, id, account, balance, remark, checked }: AccountChoiceProps): JSX.Element {
  return (
    <div class="choice">
      <input id={id} type="radio" name="account" value={accountId(account)} checked={checked} required />
      <label for={id}>
        <span class="choice-name">{accountLabel(language, account)}</span>
        <span class="number choice-number">
          <bdi dir="ltr">{groupedIban(account.identification)}</bdi>
        </span>
        <span>
          {phrase(language, "consent.balance", {
            amount: <bdi>{formatMoney(language, balance, account.currency)}</bdi>,
          })}
        </span>
        {remark === undefined ? null : <span class="remark">{remark}</span>}
      </label>
    </div>
  );
}

/** Why the payment would fail from this account, or undefined. The customer may still choose it. */
function remarkOn(
  language: Language,
  account: CustomerAccount,
  balances: Balances,
  { Amount, Currency }: Amount,
): string | undefined {
  if (account.currency !== Currency) return words(language, "consent.otherCurrency", { currency: Currency });
  const isEnough = (minorUnits(balances.of(account)) ?? 0) >= (minorUnits(Amount) ?? Infinity);
  return isEnough ? undefined : words(language, "consent.insufficientFunds");
}

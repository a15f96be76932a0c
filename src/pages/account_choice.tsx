/**
 * The choice of the account to pay from. An account that cannot pay is shown with the reason and cannot be chosen. One
 * whose balance is low can be chosen and has a warning (Decision G3). The only one that can pay is chosen already,
 * unless it has a warning; among several the customer chooses.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { type AccountIdentification, AccountNumber, Digits, endingOf } from "./account_number.tsx";
import type { Language } from "./language.ts";
import { Money } from "./money.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase } from "./phrase.ts";

/** One of the payer's accounts. */
export interface PayerAccount extends AccountIdentification {
  /** The value that the form posts as `account`. */
  readonly index: number;
  /** Tells accounts with the same number apart. */
  readonly secondaryIdentification?: string | undefined;
  /** A decimal in `currency`, where the bank gave one. */
  readonly balance?: string | undefined;
  readonly currency: string;
  readonly canPay: boolean;
  /** Why it cannot pay, or what to be warned of if it can. */
  readonly why?: "insufficient_funds" | "other_currency" | undefined;
}

interface ChoiceProps {
  readonly accounts: readonly PayerAccount[];
  readonly paymentCurrency: string;
  readonly language: Language;
  /** Whether the customer has accepted without a choice. */
  readonly isMissing: boolean;
}

/** The accounts as radio buttons named `account`, those that can pay first. */
export function AccountChoice({ accounts, paymentCurrency, language, isMissing }: ChoiceProps): JSX.Element {
  const payable = accounts.filter(({ canPay }) => canPay);
  const isAsked = isMissing && payable.length > 0;
  const inOrder = [...payable, ...accounts.filter(({ canPay }) => !canPay)];
  return (
    <fieldset class="card accounts" {...(isAsked ? { "aria-describedby": "missing" } : {})}>
      <legend>
        <h2>{phrase(language, payable.length === 0 ? "consent.yourAccounts" : "consent.accounts")}</h2>
      </legend>
      {isAsked
        ? <p id="missing" class="notice" role="alert">{phrase(language, "consent.chooseAccount")}</p>
        : null}
      {inOrder.map((account) => (
        <Account
          account={account}
          only={account.canPay && account.why === undefined && payable.length === 1}
          paymentCurrency={paymentCurrency}
          language={language}
        />
      ))}
    </fieldset>
  );
}

interface AccountProps {
  readonly account: PayerAccount;
  readonly paymentCurrency: string;
  readonly language: Language;
}

function Account(
  { account, only, paymentCurrency, language }: AccountProps & { readonly only: boolean },
): JSX.Element {
  const id = `account-${account.index}`;
  return (
    <div class="account">
      <input
        type="radio"
        id={id}
        name="account"
        value={String(account.index)}
        aria-describedby={`${id}-more`}
        required={account.canPay}
        checked={only}
        disabled={!account.canPay}
      />
      <div class="words">
        <label for={id}>
          <span class="name">
            {phrase(language, "consent.accountEnding", { ending: <Digits groups={[endingOf(account)]} /> })}
          </span>{" "}
          <span class="balance">
            <Balance account={account} language={language} />
          </span>
        </label>
        <div id={`${id}-more`} class="more">
          <p>
            <Identity account={account} language={language} />
          </p>
          {account.canPay && account.why === undefined
            ? null
            : <Why account={account} paymentCurrency={paymentCurrency} language={language} />}
        </div>
      </div>
    </div>
  );
}

/** All that tells the accounts of one number apart; the balance has the currency already. */
function Identity(
  { account, language }: { readonly account: PayerAccount; readonly language: Language },
): JSX.Element {
  const { secondaryIdentification, balance, currency } = account;
  return (
    <>
      <AccountNumber account={account} language={language} />
      {secondaryIdentification === undefined ? null : (
        <>
          {" "}
          <ParticipantText text={secondaryIdentification} />
        </>
      )}
      {balance === undefined
        ? (
          <>
            {" "}
            <bdi>{currency}</bdi>
          </>
        )
        : null}
    </>
  );
}

function Balance(
  { account, language }: { readonly account: PayerAccount; readonly language: Language },
): JSX.Element {
  if (account.balance === undefined) return <>{phrase(language, "consent.balanceUnknown")}</>;
  const amount = <Money language={language} amount={account.balance} currency={account.currency} />;
  return <>{phrase(language, "consent.balance", { amount })}</>;
}

function Why({ account, paymentCurrency, language }: AccountProps): JSX.Element {
  if (account.why === "insufficient_funds") {
    return <p class="why warning">{phrase(language, "consent.insufficientFunds")}</p>;
  }
  if (account.why === undefined) return <p class="why">{phrase(language, "consent.cannotPay")}</p>;
  const accountCurrency = <bdi>{account.currency}</bdi>;
  const values = { accountCurrency, paymentCurrency: <bdi>{paymentCurrency}</bdi> };
  return <p class="why">{phrase(language, "consent.otherCurrency", values)}</p>;
}

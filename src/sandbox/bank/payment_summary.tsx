/** The payment that the customer authorises: TPP, payee, amount, account and reference, as in the consent. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatMoney } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import { groupedIban } from "../pages/grouped_iban.ts";
import { phrase } from "./page_phrase.ts";
import type { BankConsent } from "../../client/bank/back_channel.ts";

/** A consent and the TPP that made it. */
export interface SummaryProps {
  readonly language: Language;
  readonly tppName: string;
  readonly consent: BankConsent;
}

/**
 * The payment as a list of terms and values. Text of the TPP is marked, so that it cannot be mistaken for the bank's
 * own.
 */
export function PaymentSummary({ language, tppName, consent }: SummaryProps): JSX.Element {
  const { InstructedAmount, CreditorAccount, DebtorAccount } = consent;
  const reference = referenceOf(consent);
  const payee = CreditorAccount.Name ?? undefined;
  const tpp = <bdi>{tppName}</bdi>;
  return (
    <section aria-labelledby="payment-heading" class="summary">
      <h2 id="payment-heading">{phrase(language, "payment.title")}</h2>
      <dl>
        <Row term={phrase(language, "payment.amount")} kind="amount">
          <bdi>{formatMoney(language, InstructedAmount.Amount, InstructedAmount.Currency)}</bdi>
        </Row>
        <Row term={phrase(language, "payment.payee", { tpp })} kind="written">
          {payee === undefined ? phrase(language, "payment.unnamed") : <bdi>{payee}</bdi>}
        </Row>
        <Row term={phrase(language, "payment.payeeAccount")}>
          <AccountNumber identification={CreditorAccount.Identification} />
        </Row>
        {DebtorAccount
          ? (
            <Row term={phrase(language, "payment.debtorAccount")}>
              <AccountNumber identification={DebtorAccount.Identification} />
            </Row>
          )
          : null}
        {reference === undefined
          ? null
          : (
            <Row term={phrase(language, "payment.reference", { tpp })} kind="written">
              <bdi>{reference}</bdi>
            </Row>
          )}
        <Row term={phrase(language, "payment.askedBy")}>
          {tpp}
        </Row>
      </dl>
    </section>
  );
}

/** An account number in groups, left to right in every language. */
export function AccountNumber({ identification }: { readonly identification: string }): JSX.Element {
  return <bdi dir="ltr" class="number">{groupedIban(identification)}</bdi>;
}

function Row(
  { term, kind, children }: {
    readonly term: Child;
    readonly kind?: "amount" | "written";
    readonly children: Child;
  },
): JSX.Element {
  return (
    <div class={kind ?? "plain-row"}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function referenceOf(consent: BankConsent): string | undefined {
  const remittance = consent.RemittanceInformation;
  return remittance?.Reference ?? remittance?.Unstructured ?? consent.EndToEndIdentification ??
    consent.InstructionIdentification ?? undefined;
}

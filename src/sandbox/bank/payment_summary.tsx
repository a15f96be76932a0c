/** What the customer authorises: who asks, payee, amount, account and reference, as the consent says. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankConsent } from "./platform_client.ts";

/** A consent and the TPP that made it. */
export interface SummaryProps {
  readonly tppName: string;
  readonly consent: BankConsent;
}

/** The payment as a list of terms and values. */
export function PaymentSummary({ tppName, consent }: SummaryProps): JSX.Element {
  const { InstructedAmount, CreditorAccount, DebtorAccount } = consent;
  const reference = referenceOf(consent);
  return (
    <section aria-labelledby="payment-heading" class="summary">
      <h2 id="payment-heading">Payment</h2>
      <dl>
        <Row term="Amount" value={amountText(InstructedAmount.Amount, InstructedAmount.Currency)} />
        <Row term="To" value={CreditorAccount.Name ?? "Unnamed payee"} />
        <Row term="Payee's account" value={groupedIban(CreditorAccount.Identification)} />
        {DebtorAccount
          ? <Row term="From your account" value={groupedIban(DebtorAccount.Identification)} />
          : null}
        {reference === undefined ? null : <Row term="Reference" value={reference} />}
        <Row term="Asked for by" value={tppName} />
      </dl>
    </section>
  );
}

/** `EUR 1,250.00`: the currency first, thousands grouped. */
export function amountText(amount: string, currency: string): string {
  const [whole = "", fraction = ""] = amount.split(".");
  return `${currency} ${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${fraction === "" ? "" : `.${fraction}`}`;
}

/** An account number in groups of four, as IBANs are printed. */
export function groupedIban(identification: string): string {
  return identification.replace(/(.{4})(?=.)/g, "$1 ");
}

function Row({ term, value }: { readonly term: string; readonly value: string }): JSX.Element {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function referenceOf(consent: BankConsent): string | undefined {
  const remittance = consent.RemittanceInformation;
  return remittance?.Reference ?? remittance?.Unstructured ?? consent.EndToEndIdentification ??
    consent.InstructionIdentification ?? undefined;
}

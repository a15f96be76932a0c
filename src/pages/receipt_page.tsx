/**
 * The page on which anyone verifies a receipt: a form, and what the receipt says or why it does not hold. Shows only
 * what is in the receipt.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Digits } from "./account_number.tsx";
import { Fact } from "./fact.tsx";
import { formatInstant } from "./formats.ts";
import { renderDocument } from "./html_document.tsx";
import type { Language } from "./language.ts";
import { type LanguageLink, Layout } from "./layout.tsx";
import { Money } from "./money.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { type MessageKey, phrase, words } from "./phrase.ts";
import type { Site } from "./site.ts";

/** Why a text is not a receipt of this platform. */
export type ReceiptFault = "not_receipt" | "not_ours" | "altered";

type Status = MessageKey extends infer Key ? Key extends `receipt.status.${infer Name}` ? Name : never
  : never;

/** A verified receipt. Instants are in milliseconds since the Unix epoch. */
export interface ShownReceipt {
  readonly paymentId: string;
  readonly amount: string;
  readonly currency: string;
  readonly payee: string;
  /** The last characters of the payee's account number. */
  readonly accountEnding: string;
  readonly status: Status;
  readonly statusAt: number;
  readonly createdAt: number;
  readonly issuedAt: number;
  readonly bank: string;
  readonly tpp: string;
  readonly reference?: string | undefined;
}

/** The contents of the page. With neither a receipt nor a fault it is the form alone. */
export interface ReceiptView {
  readonly site: Site;
  readonly languageSwitch: readonly LanguageLink[];
  /** Where the form is sent. */
  readonly formAddress: string;
  readonly maxCharacters: number;
  readonly receipt?: ShownReceipt;
  readonly fault?: ReceiptFault;
  /** What was sent, if it is no receipt of the platform. */
  readonly sent?: string;
}

/** The page as a whole HTML document. */
export function renderReceiptPage(view: ReceiptView, language: Language): string {
  const { site, languageSwitch, receipt, fault } = view;
  const title = titleOf(view, language);
  return renderDocument(
    <Layout language={language} title={title} site={site} languageSwitch={languageSwitch} isPublic>
      <article class="card">
        <h1>{title}</h1>
        {receipt === undefined ? null : <Facts receipt={receipt} language={language} />}
        {fault === undefined ? null : <p>{phrase(language, `receipt.${fault}.text`)}</p>}
        {receipt === undefined && fault === undefined ? <p>{phrase(language, "receipt.intro")}</p> : null}
      </article>
      <Form view={view} language={language} />
    </Layout>,
  );
}

function isUnpaid(status: Status): status is "Rejected" | "Pending" {
  return status === "Rejected" || status === "Pending";
}

function titleOf({ receipt, fault }: ReceiptView, language: Language): string {
  if (fault !== undefined) return words(language, `receipt.${fault}.title`);
  if (receipt === undefined) return words(language, "receipt.title");
  const { status } = receipt;
  return words(language, isUnpaid(status) ? `receipt.genuine${status}` : "receipt.genuine");
}

function Form(
  { view: { formAddress, maxCharacters, sent = "" }, language }: {
    readonly view: ReceiptView;
    readonly language: Language;
  },
): JSX.Element {
  return (
    <form class="card receipt-form" method="post" action={formAddress}>
      <label for="receipt">{phrase(language, "receipt.field")}</label>
      <textarea
        id="receipt"
        name="receipt"
        rows={6}
        maxlength={maxCharacters}
        dir="ltr"
        spellcheck={false}
        autocomplete="off"
        required
      >
        {sent}
      </textarea>
      <button type="submit">{phrase(language, "receipt.check")}</button>
    </form>
  );
}

interface FactsProps {
  readonly receipt: ShownReceipt;
  readonly language: Language;
}

function Facts({ receipt, language }: FactsProps): JSX.Element {
  const { amount, currency } = receipt;
  return (
    <>
      {isUnpaid(receipt.status)
        ? <p class="notice">{phrase(language, `receipt.status.${receipt.status}`)}</p>
        : null}
      <p class="note">
        {phrase(language, "receipt.asOf", { time: <Instant at={receipt.issuedAt} language={language} /> })}
      </p>
      <dl class="facts">
        <div class="amount">
          <dt>{phrase(language, "receipt.amount")}</dt>
          <dd>
            <Money language={language} amount={amount} currency={currency} />
          </dd>
        </div>
        <Fact name={phrase(language, "receipt.status")}>
          {phrase(language, `receipt.status.${receipt.status}`)}
        </Fact>
        <Fact name={phrase(language, "receipt.statusAt")}>
          <Instant at={receipt.statusAt} language={language} />
        </Fact>
        <Parties receipt={receipt} language={language} />
        <References receipt={receipt} language={language} />
      </dl>
    </>
  );
}

function Parties({ receipt, language }: FactsProps): JSX.Element {
  const tpp = <ParticipantText text={receipt.tpp} />;
  const ending = <Digits groups={[receipt.accountEnding]} />;
  return (
    <>
      <Fact name={phrase(language, "receipt.payee", { tpp })}>
        <ParticipantText text={receipt.payee} />
      </Fact>
      <Fact name={phrase(language, "receipt.payeeAccount")}>
        {phrase(language, "consent.accountEnding", { ending })}
      </Fact>
      <Fact name={phrase(language, "receipt.bank")}>
        <ParticipantText text={receipt.bank} />
      </Fact>
      <Fact name={phrase(language, "receipt.tpp")}>{tpp}</Fact>
    </>
  );
}

function References({ receipt, language }: FactsProps): JSX.Element {
  const { reference } = receipt;
  return (
    <>
      <Fact name={phrase(language, "receipt.createdAt")}>
        <Instant at={receipt.createdAt} language={language} />
      </Fact>
      {reference === undefined ? null : (
        <Fact name={phrase(language, "receipt.reference")}>
          <ParticipantText text={reference} />
        </Fact>
      )}
      <Fact name={phrase(language, "receipt.paymentId")}>
        <code dir="ltr">{receipt.paymentId}</code>
      </Fact>
    </>
  );
}

function Instant({ at, language }: { readonly at: number; readonly language: Language }): JSX.Element {
  return <bdi>{formatInstant(language, at)}</bdi>;
}

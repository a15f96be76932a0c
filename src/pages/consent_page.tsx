/**
 * The platform's consent screen: TPP, purpose, payee, amount and account. Accepting and rejecting are posts of one
 * form. Works without scripts.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { AccountChoice, type PayerAccount } from "./account_choice.tsx";
import { formatDay, formatDuration, formatTime } from "./formats.ts";
import type { Language } from "./language.ts";
import { renderDocument } from "./html_document.tsx";
import { type LanguageLink, Layout } from "./layout.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase, words } from "./phrase.ts";
import type { Site } from "./site.ts";
import type { Parties } from "../base/values/parties.ts";
import type { Child } from "hono/jsx";
import { type AccountIdentification, AccountNumber } from "./account_number.tsx";
import { Fact } from "./fact.tsx";
import { Money } from "./money.tsx";

/** The facts of the payment, and what the page itself needs. Instants are milliseconds since the Unix epoch. */
export interface ConsentView extends Parties {
  readonly payee: AccountIdentification & { readonly name: string };
  readonly amount: { readonly amount: string; readonly currency: string };
  /** `RemittanceInformation.Reference`. */
  readonly reference?: string | undefined;
  /** `RemittanceInformation.Unstructured`. */
  readonly unstructured?: string | undefined;
  readonly accounts: readonly PayerAccount[];
  /** Until when the customer can decide. */
  readonly expiresAt: number;
  readonly csrf: string;
  /** Where the decision is posted. */
  readonly action: string;
  readonly now: number;
  readonly site: Site;
  readonly languageSwitch: readonly LanguageLink[];
  /** Whether the customer has accepted without an account. */
  readonly isAccountMissing: boolean;
}

interface PartProps {
  readonly view: ConsentView;
  readonly language: Language;
}

/** The page as a whole HTML document. */
export function renderConsentPage(view: ConsentView, language: Language): string {
  const title = words(language, canPay(view) ? "consent.title" : "consent.cannotPayTitle");
  const { site, languageSwitch } = view;
  return renderDocument(
    <Layout language={language} title={title} site={site} languageSwitch={languageSwitch}>
      <h1>{title}</h1>
      <p class="lead">
        {phrase(language, "consent.asks", {
          tpp: <Tpp view={view} />,
          bank: <ParticipantText text={view.bank.name} />,
        })}
      </p>
      {canPay(view) ? null : <p class="notice">{phrase(language, "consent.noneCanPay")}</p>}
      <Payment view={view} language={language} />
      <Decision view={view} language={language} />
      <Next view={view} language={language} />
    </Layout>,
  );
}

/** Else there is only one thing to decide, and no hurry. */
function canPay({ accounts }: ConsentView): boolean {
  return accounts.some(({ canPay }) => canPay);
}

function Decision({ view, language }: PartProps): JSX.Element {
  const amount = <Amount view={view} language={language} />;
  return (
    <form id="consent" method="post" action={view.action}>
      <input type="hidden" name="csrf" value={view.csrf} />
      <AccountChoice
        accounts={view.accounts}
        paymentCurrency={view.amount.currency}
        language={language}
        isMissing={view.isAccountMissing}
      />
      <div class="decisions">
        {canPay(view)
          ? (
            <button class="accept" type="submit" name="decision" value="accept">
              <span>{phrase(language, "consent.accept", { amount })}</span>
            </button>
          )
          : null}
        <button class="refuse" type="submit" name="decision" value="refuse" formnovalidate>
          {phrase(language, "consent.refuse")}
        </button>
      </div>
    </form>
  );
}

/** The consequences of either decision, and the link back without one. */
function Next({ view, language }: PartProps): JSX.Element {
  const payable = canPay(view);
  const tpp = <Tpp view={view} />;
  const amount = <Amount view={view} language={language} />;
  const { clientUri } = view.tpp;
  return (
    <section class="after" aria-labelledby="next">
      <p>{phrase(language, "consent.thisPage", { bank: <ParticipantText text={view.bank.name} /> })}</p>
      <h2 id="next">{phrase(language, "consent.next")}</h2>
      {payable ? <p>{phrase(language, "consent.nothingYet")}</p> : null}
      <ul class="next">
        {payable ? <li>{phrase(language, "consent.ifAccept", { tpp, amount })}</li> : null}
        {payable ? <li>{phrase(language, "consent.afterwards")}</li> : null}
        <li>{phrase(language, "consent.ifRefuse", { tpp })}</li>
      </ul>
      {payable ? <TimeLeft view={view} language={language} /> : null}
      {clientUri === undefined ? null : (
        <p>
          <a class="back" href={clientUri}>{phrase(language, "layout.backTo", { tpp })}</a>
        </p>
      )}
    </section>
  );
}

function TimeLeft({ view, language }: PartProps): JSX.Element {
  const duration = <strong>{formatDuration(language, view.expiresAt - view.now)}</strong>;
  const time = <Deadline view={view} language={language} />;
  return <p>{phrase(language, "consent.timeLeft", { duration, time })}</p>;
}

function Deadline({ view, language }: PartProps): JSX.Element {
  return (
    <time datetime={new Date(view.expiresAt).toISOString()}>
      <bdi>{formatTime(language, view.expiresAt, view.site.operator.timeZone)}</bdi>
    </time>
  );
}

/** Amount and payee. Purpose and TPP details are folded, so that the decision fits on the first screen of a phone. */
function Payment({ view, language }: PartProps): JSX.Element {
  const { payee } = view;
  const tpp = <Tpp view={view} />;
  return (
    <section class="card payment" aria-labelledby="payment">
      <h2 id="payment" class="visually-hidden">{phrase(language, "consent.payment")}</h2>
      <dl class="facts">
        <Fact name={phrase(language, "consent.amount")} kind="amount">
          <Amount view={view} language={language} />
        </Fact>
      </dl>
      <dl class="facts written">
        <Fact name={phrase(language, "consent.payee", { tpp })} kind="payee">
          <ParticipantText text={payee.name} />
        </Fact>
      </dl>
      <dl class="facts">
        <Fact name={phrase(language, "consent.payeeAccount")}>
          <AccountNumber account={payee} language={language} />
        </Fact>
      </dl>
      <details>
        <summary>{phrase(language, "consent.more")}</summary>
        <More view={view} language={language} />
      </details>
    </section>
  );
}

/**
 * Text from the TPP. It is set apart and attributed, so that it cannot be mistaken for text of the platform or the
 * bank.
 */
function Written({ view, language, children }: PartProps & { readonly children: Child }): JSX.Element {
  return (
    <div class="written" role="group" aria-labelledby="written">
      <p id="written">{phrase(language, "consent.written", { tpp: <Tpp view={view} /> })}</p>
      <dl class="facts">{children}</dl>
    </div>
  );
}

function More({ view, language }: PartProps): JSX.Element {
  const { reference, unstructured } = view;
  return (
    <>
      {reference === undefined && unstructured === undefined
        ? null
        : (
          <Written view={view} language={language}>
            {reference === undefined ? null : (
              <Fact name={phrase(language, "consent.reference")}>
                <ParticipantText text={reference} />
              </Fact>
            )}
            {unstructured === undefined ? null : (
              <Fact name={phrase(language, "consent.message")}>
                <ParticipantText text={unstructured} />
              </Fact>
            )}
          </Written>
        )}
      <dl class="facts">
        <Fact name={phrase(language, "consent.bank")}>
          <ParticipantText text={view.bank.name} />
        </Fact>
      </dl>
      <Asker view={view} language={language} />
    </>
  );
}

/** Who asks for it, as the directory vouches for them. */
function Asker({ view, language }: PartProps): JSX.Element {
  const { clientId, registrationNumber, role, registeredSince } = view.tpp;
  return (
    <>
      <h3>{phrase(language, "consent.who")}</h3>
      <dl class="facts">
        <Fact name={phrase(language, "consent.legalName")}>
          <Tpp view={view} />
        </Fact>
        {registrationNumber === undefined
          ? null
          : (
            <Fact name={phrase(language, "consent.registrationNumber")}>
              <ParticipantText text={registrationNumber} />
            </Fact>
          )}
        <Fact name={phrase(language, "consent.role")}>
          {role === "PISP" || role === "ASPSP"
            ? phrase(language, `role.${role}`)
            : <ParticipantText text={role} />}
        </Fact>
        <Fact name={phrase(language, "consent.registeredSince")}>
          <time datetime={new Date(registeredSince).toISOString().slice(0, 10)}>
            {formatDay(language, registeredSince)}
          </time>
        </Fact>
        <Fact name={phrase(language, "consent.clientId")}>
          <bdi dir="ltr" class="identifier">{clientId}</bdi>
        </Fact>
      </dl>
      <p class="note">{phrase(language, "consent.verified")}</p>
    </>
  );
}

/** Who asks, by name. */
function Tpp({ view }: { readonly view: ConsentView }): JSX.Element {
  return <ParticipantText text={view.tpp.legalName} />;
}

/** The amount of the payment. */
function Amount({ view, language }: PartProps): JSX.Element {
  return <Money language={language} {...view.amount} />;
}

/**
 * The platform's consent screen: who asks, what for, to whom, how much, from which account. Decides nothing: accepting
 * and refusing are posts of one form. Works without scripts.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { AccountChoice, type PayerAccount } from "./account_choice.tsx";
import { type AccountIdentification, AccountNumber } from "./account_number.tsx";
import { formatDay, formatDuration, formatTime } from "./formats.ts";
import type { Language } from "./language.ts";
import { type LanguageLink, Layout, renderDocument } from "./layout.tsx";
import { Money } from "./money.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase } from "./phrase.ts";

/** What the page shows. Instants are milliseconds since the Unix epoch. */
export interface ConsentView {
  /** Who asks, as the directory vouches for it. */
  readonly tpp: {
    readonly legalName: string;
    readonly clientId: string;
    readonly role: string;
    readonly registeredSince: number;
  };
  readonly bank: { readonly code: string; readonly name: string };
  readonly payee: AccountIdentification & { readonly name: string };
  readonly amount: { readonly amount: string; readonly currency: string };
  /** `RemittanceInformation.Reference`. */
  readonly reference?: string | undefined;
  /** `RemittanceInformation.Unstructured`. */
  readonly unstructured?: string | undefined;
  readonly accounts: readonly PayerAccount[];
  readonly csrf: string;
  /** Where the decision is posted. */
  readonly action: string;
  readonly expiresAt: number;
  readonly now: number;
  readonly sandbox: boolean;
  readonly languageSwitch: readonly LanguageLink[];
}

interface PartProps {
  readonly view: ConsentView;
  readonly language: Language;
}

/** The page as a whole HTML document. */
export function renderConsentPage(view: ConsentView, language: Language): string {
  const title = phrase(language, "consent.title");
  const { sandbox, languageSwitch } = view;
  return renderDocument(
    <Layout language={language} title={title.join("")} sandbox={sandbox} languageSwitch={languageSwitch}>
      <h1>{title}</h1>
      <p class="lead">
        {phrase(language, "consent.asks", {
          tpp: <Tpp view={view} />,
          bank: <ParticipantText text={view.bank.name} />,
        })}
      </p>
      <Payment view={view} language={language} />
      <Asker view={view} language={language} />
      <Decision view={view} language={language} />
    </Layout>,
  );
}

function Payment({ view, language }: PartProps): JSX.Element {
  const { payee, reference, unstructured } = view;
  return (
    <section class="card" aria-labelledby="payment">
      <h2 id="payment">{phrase(language, "consent.payment")}</h2>
      <dl class="facts">
        <Fact name={phrase(language, "consent.amount")} kind="amount">
          <Amount view={view} language={language} />
        </Fact>
        <Fact name={phrase(language, "consent.payee")} kind="payee">
          <ParticipantText text={payee.name} />
        </Fact>
        <Fact name={phrase(language, "consent.payeeAccount")}>
          <AccountNumber account={payee} language={language} />
        </Fact>
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
        <Fact name={phrase(language, "consent.bank")}>
          <ParticipantText text={view.bank.name} />
        </Fact>
      </dl>
    </section>
  );
}

function Asker({ view, language }: PartProps): JSX.Element {
  const { clientId, role, registeredSince } = view.tpp;
  return (
    <section class="card" aria-labelledby="who">
      <h2 id="who">{phrase(language, "consent.who")}</h2>
      <dl class="facts">
        <Fact name={phrase(language, "consent.legalName")}>
          <Tpp view={view} />
        </Fact>
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
    </section>
  );
}

function Decision({ view, language }: PartProps): JSX.Element {
  const payable = view.accounts.some(({ canPay }) => canPay);
  const tpp = <Tpp view={view} />;
  const amount = <Amount view={view} language={language} />;
  return (
    <form id="consent" method="post" action={view.action}>
      <input type="hidden" name="csrf" value={view.csrf} />
      <AccountChoice accounts={view.accounts} paymentCurrency={view.amount.currency} language={language} />
      <section class="card" aria-labelledby="next">
        <h2 id="next">{phrase(language, "consent.next")}</h2>
        <ul class="next">
          {payable ? <li>{phrase(language, "consent.ifAccept", { tpp, amount })}</li> : null}
          <li>{phrase(language, "consent.ifRefuse", { tpp })}</li>
        </ul>
        <p>
          {phrase(language, "consent.timeLeft", {
            duration: <strong>{formatDuration(language, view.expiresAt - view.now)}</strong>,
            time: <Deadline view={view} language={language} />,
          })}
        </p>
      </section>
      <div class="decisions">
        {payable
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

function Fact(
  { name, kind, children }: {
    readonly name: Child;
    readonly kind?: "amount" | "payee";
    readonly children: Child;
  },
): JSX.Element {
  return (
    <div class={kind ?? "plain"}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Tpp({ view }: { readonly view: ConsentView }): JSX.Element {
  return <ParticipantText text={view.tpp.legalName} />;
}

function Amount({ view, language }: PartProps): JSX.Element {
  return <Money language={language} {...view.amount} />;
}

function Deadline({ view, language }: PartProps): JSX.Element {
  return (
    <time datetime={new Date(view.expiresAt).toISOString()}>
      <bdi>{formatTime(language, view.expiresAt)}</bdi>
    </time>
  );
}

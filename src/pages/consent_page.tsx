/**
 * The platform's consent screen: TPP, purpose, payee, amount and account. Accepting and rejecting are posts of one
 * form. Works without scripts.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { AccountChoice } from "./account_choice.tsx";
import { Amount, type ConsentFacts, Payment, Tpp } from "./consent_facts.tsx";
import { formatDuration, formatTime } from "./formats.ts";
import type { Language } from "./language.ts";
import { renderDocument } from "./html_document.tsx";
import { type LanguageLink, Layout } from "./layout.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase, words } from "./phrase.ts";
import type { Site } from "./site.ts";

/** The page: the facts, and what the page itself needs. */
export interface ConsentView extends ConsentFacts {
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

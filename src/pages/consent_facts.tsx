/** The facts of a payment and of who asks for it, as the consent screen shows them. */
import type { Parties } from "../base/values/parties.ts";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PayerAccount } from "./account_choice.tsx";
import { type AccountIdentification, AccountNumber } from "./account_number.tsx";
import { Fact } from "./fact.tsx";
import { formatDay } from "./formats.ts";
import type { Language } from "./language.ts";
import { Money } from "./money.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase } from "./phrase.ts";

/** All facts about the payment on the page. Instants are milliseconds since the Unix epoch. */
export interface ConsentFacts extends Parties {
  readonly payee: AccountIdentification & { readonly name: string };
  readonly amount: { readonly amount: string; readonly currency: string };
  /** `RemittanceInformation.Reference`. */
  readonly reference?: string | undefined;
  /** `RemittanceInformation.Unstructured`. */
  readonly unstructured?: string | undefined;
  readonly accounts: readonly PayerAccount[];
  /** Until when the customer can decide. */
  readonly expiresAt: number;
}

/** The facts in the reader's language. */
export interface FactsProps {
  readonly view: ConsentFacts;
  readonly language: Language;
}

/** Amount and payee. Purpose and TPP details are folded, so that the decision fits on the first screen of a phone. */
export function Payment({ view, language }: FactsProps): JSX.Element {
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
function Written({ view, language, children }: FactsProps & { readonly children: Child }): JSX.Element {
  return (
    <div class="written" role="group" aria-labelledby="written">
      <p id="written">{phrase(language, "consent.written", { tpp: <Tpp view={view} /> })}</p>
      <dl class="facts">{children}</dl>
    </div>
  );
}

function More({ view, language }: FactsProps): JSX.Element {
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
function Asker({ view, language }: FactsProps): JSX.Element {
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
export function Tpp({ view }: { readonly view: ConsentFacts }): JSX.Element {
  return <ParticipantText text={view.tpp.legalName} />;
}

/** The amount of the payment. */
export function Amount({ view, language }: FactsProps): JSX.Element {
  return <Money language={language} {...view.amount} />;
}

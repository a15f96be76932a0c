/** The facts of a payment and of who asks for it, as the consent screen tells them. Nothing here can be clicked. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PayerAccount } from "./account_choice.tsx";
import { type AccountIdentification, AccountNumber } from "./account_number.tsx";
import { formatDay } from "./formats.ts";
import type { Language } from "./language.ts";
import { Money } from "./money.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase } from "./phrase.ts";

/** What the page tells of the payment, whole. Instants are milliseconds since the Unix epoch. */
export interface ConsentFacts {
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
  /** Until when the customer can decide. */
  readonly expiresAt: number;
}

/** The facts in the reader's language. */
export interface FactsProps {
  readonly view: ConsentFacts;
  readonly language: Language;
}

/** What is paid, to whom, and what for. */
export function Payment({ view, language }: FactsProps): JSX.Element {
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

/** Who asks for it, as the directory vouches for them. */
export function Asker({ view, language }: FactsProps): JSX.Element {
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

/** Who asks, by name. */
export function Tpp({ view }: { readonly view: ConsentFacts }): JSX.Element {
  return <ParticipantText text={view.tpp.legalName} />;
}

/** The amount of the payment. */
export function Amount({ view, language }: FactsProps): JSX.Element {
  return <Money language={language} {...view.amount} />;
}

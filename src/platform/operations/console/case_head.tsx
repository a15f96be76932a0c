/** What a payment is and where it stands: the card at the head of its case. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { AccountNumber } from "../../../pages/account_number.tsx";
import { REASONS } from "../../../base/values/reason_codes.ts";
import { Fact } from "../../../pages/fact.tsx";
import type { Language } from "../../../pages/language.ts";
import { Money } from "../../../pages/money.tsx";
import { type Badge, Instant, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import type { caseSummarySchema } from "../cases/case_representation.ts";
import { OrderChanges, Tries, Why } from "./orders_page.tsx";
import { CaseLink, Coded } from "./parts.tsx";
import { messageNamed, phrase, type PlainKey } from "./phrase.ts";

export type Summary = z.infer<typeof caseSummarySchema>["Data"];
type Glance = NonNullable<Summary["Case"]>;

export function CaseHead(
  { visit, one, order }: {
    readonly visit: Visit;
    readonly one: Glance;
    readonly order?: Summary["PaymentOrder"];
  },
): JSX.Element {
  const { language } = visit;
  return (
    <section class="card case-head">
      <p class="sum">
        <Money
          language={language}
          amount={one.InstructedAmount.Amount}
          currency={one.InstructedAmount.Currency}
        />
      </p>
      <p>
        <StatusOf
          language={language}
          of={one.DomesticPaymentId === undefined ? "consent" : "payment"}
          status={one.Status}
        />{" "}
        <span class="detail">
          <code dir="ltr">{one.Status}</code> <Instant visit={visit} at={one.StatusUpdateDateTime} />
        </span>
      </p>
      {drawReasonCode(language, one.StatusReasonCode)}
      {one.StatusReason === undefined ? null : <p dir="auto">{one.StatusReason}</p>}
      <dl class="facts">
        {drawParties(visit, one)}
        <Identifiers visit={visit} one={one} />
        {drawStanding(visit, order, one.ErasedDateTime)}
      </dl>
    </section>
  );
}

/** Why the payment was rejected, and who can act. */
function drawReasonCode(language: Language, code: Glance["StatusReasonCode"]): JSX.Element | null {
  if (code === undefined) return null;
  return (
    <p>
      <Coded language={language} kind="reason" code={code} />
      <span class="detail">{phrase(language, `case.reason.${REASONS[code].actor}`)}</span>
    </p>
  );
}

/** The order that no bank has answered, with what can be done about it, and whether the case was erased. */
function drawStanding(
  visit: Visit,
  order: Summary["PaymentOrder"],
  erasedAt: string | undefined,
): JSX.Element {
  const { language } = visit;
  return (
    <>
      {order === undefined ? null : (
        <Fact name={phrase(language, "case.order")}>
          <Tries visit={visit} order={order} />
          <Why visit={visit} order={order} />
          <OrderChanges visit={visit} order={order} />
        </Fact>
      )}
      {erasedAt === undefined ? null : (
        <Fact name={phrase(language, "case.erased")}>
          <Instant visit={visit} at={erasedAt} />
        </Fact>
      )}
    </>
  );
}

/** From whom to whom, at which bank, by which TPP. */
function drawParties({ language, may }: Visit, one: Glance): JSX.Element {
  const { Debtor, Creditor, Bank, Tpp } = one;
  const accounts = [["case.from", Debtor], ["case.to", Creditor]] as const;
  return (
    <>
      {accounts.map(([name, account]) =>
        account === undefined ? null : (
          <Fact name={phrase(language, name)}>
            {account.Name === undefined ? null : (
              <span class="detail">
                <bdi>{account.Name}</bdi>
              </span>
            )}
            <AccountNumber
              language={language}
              account={{ schemeName: account.SchemeName, identification: account.Identification }}
            />
          </Fact>
        )
      )}
      <Fact name={phrase(language, "column.bank")}>
        <bdi>{Bank.Name ?? Bank.Id}</bdi> <code dir="ltr">{Bank.Id}</code>
      </Fact>
      <Fact name={phrase(language, "column.tpp")}>
        {may("GET /console/participants/{id}")
          ? <a href={`/console/participants/${Tpp.Id}`}>{Tpp.Name ?? Tpp.Id}</a>
          : <bdi>{Tpp.Name ?? Tpp.Id}</bdi>}
      </Fact>
    </>
  );
}

/** The ids of the payment and its consent lead to the case, unless its page shows them. */
function Identifiers({ visit, one }: { readonly visit: Visit; readonly one: Glance }): JSX.Element {
  const { language } = visit;
  const isCase = visit.address.startsWith("/console/cases/");
  const ids: readonly (readonly [PlainKey, string | undefined])[] = [
    ["case.reference", one.Reference],
    ["case.endToEnd", one.EndToEndIdentification],
    ["column.payment", one.DomesticPaymentId],
    ["column.consent", one.ConsentId],
  ];
  return (
    <>
      {ids.map(([name, id]) =>
        id === undefined ? null : (
          <Fact name={phrase(language, name)}>
            {isCase || !name.startsWith("column.")
              ? <code dir="auto">{id}</code>
              : <CaseLink visit={visit} id={id} />}
          </Fact>
        )
      )}
    </>
  );
}

/** The status of a consent or a payment. */
export function StatusOf(
  { language, of, status }: {
    readonly language: Language;
    readonly of: "consent" | "payment";
    readonly status: string;
  },
): JSX.Element {
  const known = messageNamed(`status.${of}.${status}`);
  return <State is={badgeOf(status)} words={known === undefined ? status : phrase(language, known)} />;
}

/** The colour of a status of a consent or a payment. */
export function badgeOf(status: string): Badge {
  if (status === "Rejected") return "bad";
  return status.startsWith("Accepted") ? "good" : "neutral";
}

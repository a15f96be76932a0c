/** The page of a person of a TPP or bank: registrations, orders, rejected requests, reports, and a search by id. */
import { eventDeliverySchema } from "../../events/operations_routes.ts";
import { Deliveries } from "./events_page.tsx";
import { formatDuration } from "../../../pages/formats.ts";
import { dayOf } from "../../observed/figures/figures.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import { z } from "zod";
import {
  ownCaseSchema,
  type OwnConsent,
  ownConsentSchema,
  ownDisputeSchema,
  ownOrderSchema,
  ownPaymentSchema,
  ownRegistrationSchema,
} from "../participant_views/own_representation.ts";
import { funnelRowSchema } from "../funnel/funnel_representation.ts";
import { reportSchema } from "../reports/report_representation.ts";
import { searchSchema } from "../search/routes.ts";
import { traceSchema } from "../traces/trace_representation.ts";
import { Instant, More, type PartProps, queryOf, Read, State } from "../../../console/parts.tsx";
import { CaseHead, StatusOf } from "./case_head.tsx";
import { DisputeState, Opener } from "./disputes_page.tsx";
import { Named, Sum, Table } from "./parts.tsx";
import { Funnel, FunnelRows } from "./funnel_page.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import { ByDay, Days, Spans } from "./reports_page.tsx";
import { SearchForm, SearchResults, Traces } from "./search_page.tsx";
import type { Language } from "../../../pages/language.ts";
import type { Answer, Visit } from "../../../console/visit.ts";

const PATH = "/console/own";

function listOf<Name extends string, T extends z.ZodType>(
  name: Name,
  item: T,
): z.ZodType<
  { Data: { [_ in Name]: z.infer<T>[] } & { After?: string | undefined; IsComplete?: boolean | undefined } }
> {
  const more = { After: z.string().optional(), IsComplete: z.boolean().optional() };
  return z.object({ Data: z.object({ [name]: z.array(item), ...more }) }) as never;
}

const CONSENTS = listOf("Consent", ownConsentSchema);
const FUNNEL = listOf("Row", funnelRowSchema);
const PAYMENTS = listOf("Payment", ownPaymentSchema);

/** The query of the page. `consents` and `payments` are cursors of its lists. */
export type AskedOwn = Readonly<Partial<Record<"q" | "from" | "until" | "consents" | "payments", string>>>;

export async function ownPage(
  visit: Visit,
  { q: sent = "", ...asked }: AskedOwn,
  now: number,
): Promise<JSX.Element> {
  const q = sent.trim();
  const query = new URLSearchParams({ q });
  const answer = q === "" ? undefined : await visit.read(`/operations/own/search?${query}`, searchSchema);
  const cases = answer?.ok === true ? answer.value.Data.Case : [];
  const heads = cases.length === 1 ? await headOf(visit, cases[0]?.ConsentId ?? "") : null;
  return (
    <>
      <SearchForm visit={visit} action={PATH} sent={q} />
      {answer === undefined ? await overview(visit, asked, now) : (
        <Read visit={visit} answer={answer}>
          {({ Data }) => (
            <>
              {heads}
              <SearchResults visit={visit} found={Data} />
            </>
          )}
        </Read>
      )}
    </>
  );
}

/** What the only case that was found is and where it stands. */
async function headOf(visit: Visit, id: string): Promise<JSX.Element> {
  const answer = await visit.read(
    `/operations/own/cases?${new URLSearchParams({ id })}`,
    listOf("Case", ownCaseSchema),
  );
  return (
    <Read visit={visit} answer={answer}>
      {({ Data: { Case: [found] } }) => (
        <>{found === undefined ? null : <CaseHead visit={visit} one={found} />}</>
      )}
    </Read>
  );
}

async function overview(visit: Visit, asked: AskedOwn, now: number): Promise<JSX.Element> {
  const [registrations, disputes, events, dead, held] = await Promise.all([
    visit.read("/operations/own/registrations", listOf("Registration", ownRegistrationSchema)),
    visit.read("/operations/own/disputes", listOf("Dispute", ownDisputeSchema)),
    visit.read("/operations/own/event-deliveries", listOf("EventDelivery", eventDeliverySchema)),
    visit.read("/operations/own/payment-orders?state=dead", listOf("PaymentOrder", ownOrderSchema)),
    visit.read("/operations/own/payment-orders?state=held", listOf("PaymentOrder", ownOrderSchema)),
  ]);
  return (
    <>
      <Section visit={visit} title="own.registrations" answer={registrations}>
        {({ Data: { Registration: found } }) => <Registrations visit={visit} one={found} />}
      </Section>
      <Section visit={visit} title="disputes.title" answer={disputes}>
        {({ Data: { Dispute: found } }) => <Disputes visit={visit} one={found} />}
      </Section>
      <Section visit={visit} title="events.title" answer={events}>
        {({ Data: { EventDelivery: found } }) => (
          <Deliveries visit={visit} deliveries={found} changes={false} />
        )}
      </Section>
      {[["column.dead", dead] as const, ["state.held", held] as const].map(([title, answer]) => (
        <Section visit={visit} title={title} answer={answer}>
          {({ Data: { PaymentOrder: found, IsComplete } }) => (
            <>
              {drawOrders(visit, title, found)}
              {IsComplete === false ? <p class="notice">{phrase(visit.language, "search.more")}</p> : null}
            </>
          )}
        </Section>
      ))}
      {await lists(visit, asked, now)}
      {await requestsAndReports(visit)}
    </>
  );
}

/** Of today, if no day was asked for. */
async function lists(visit: Visit, sent: AskedOwn, now: number): Promise<JSX.Element> {
  const today = sent.from === undefined && sent.until === undefined ? { from: dayOf(now) } : {};
  const asked = { ...sent, ...today };
  const { from, until, consents: consentsAfter, payments: paymentsAfter } = asked;
  const [consents, payments] = await Promise.all([
    visit.read(`/operations/own/consents${queryOf({ from, until, after: consentsAfter })}`, CONSENTS),
    visit.read(`/operations/own/payments${queryOf({ from, until, after: paymentsAfter })}`, PAYMENTS),
  ]);
  return (
    <>
      <Days language={visit.language} action={PATH} from={from} until={until} />
      <ul class="changes">
        <Spans language={visit.language} path={PATH} shown={{}} now={now} />
      </ul>
      <Section visit={visit} title="own.consents" answer={consents}>
        {({ Data: { Consent: found, After } }) => (
          <>
            {drawMade(visit, "own.consents", found)}
            <More visit={visit} path={PATH} query={{ ...asked, consents: After }} cursor="consents" />
          </>
        )}
      </Section>
      <Section visit={visit} title="own.payments" answer={payments}>
        {({ Data: { Payment: found, After } }) => (
          <>
            {drawMade(visit, "own.payments", found)}
            <More visit={visit} path={PATH} query={{ ...asked, payments: After }} cursor="payments" />
          </>
        )}
      </Section>
    </>
  );
}

async function requestsAndReports(visit: Visit): Promise<JSX.Element> {
  const [rejected, whole, byDay, reports] = await Promise.all([
    visit.read("/operations/own/rejected-requests", listOf("Trace", traceSchema)),
    visit.read("/operations/own/funnel?by=", FUNNEL),
    visit.read("/operations/own/funnel", FUNNEL),
    visit.read("/operations/own/reports", listOf("Report", reportSchema)),
  ]);
  return (
    <>
      <Read visit={visit} answer={rejected}>
        {({ Data: { Trace: found } }) => <Traces visit={visit} name="own.rejected" found={found} />}
      </Read>
      <Read visit={visit} answer={whole}>
        {({ Data: { Row: [row] } }) => <Funnel language={visit.language} row={row} />}
      </Read>
      <Section visit={visit} title="reports.funnel" answer={byDay}>
        {({ Data: { Row: rows } }) => <FunnelRows language={visit.language} by="day" rows={rows} />}
      </Section>
      <Read visit={visit} answer={reports}>
        {({ Data: { Report: found } }) => (
          <>
            {found.map((report) => (
              <ByDay
                language={visit.language}
                kind={report.Total.Availability === undefined ? "tpps" : "banks"}
                report={report}
              />
            ))}
          </>
        )}
      </Read>
    </>
  );
}

function Section<T>(
  { visit, title, answer, children }: {
    readonly visit: Visit;
    readonly title: PlainKey;
    readonly answer: Answer<T>;
    readonly children: (value: T) => JSX.Element;
  },
): JSX.Element {
  return (
    <section class="card">
      <h2>{phrase(visit.language, title)}</h2>
      <Read visit={visit} answer={answer}>{children}</Read>
    </section>
  );
}

type Registration = z.infer<typeof ownRegistrationSchema>;

function Registrations(
  { visit: { language }, one: found }: PartProps<readonly Registration[]>,
): JSX.Element {
  return (
    <Table
      language={language}
      name="own.registrations"
      none="own.none"
      rows={found}
      columns={{
        "column.software": ({ ClientId, SoftwareName }) => <Named id={ClientId} name={SoftwareName} />,
        "column.state": ({ Status }) => (
          <State is={Status === "active" ? "good" : "bad"} words={phrase(language, statusWords(Status))} />
        ),
        "column.keyAge": ({ KeyCopy: copy }) => (
          <span class="number">{copy ? formatDuration(language, copy.AgeSeconds * 1000) : "–"}</span>
        ),
        "column.redirects": ({ RedirectUri: uris }) => (
          <>{uris.map((uri) => <code class="detail" dir="ltr">{uri}</code>)}</>
        ),
      }}
    />
  );
}

const STATUS_WORDS: Readonly<Record<string, PlainKey>> = {
  active: "directory.active",
  suspended: "directory.suspended",
  withdrawn: "directory.withdrawn",
  blocked: "state.blocked",
};

function statusWords(status: string): PlainKey {
  return STATUS_WORDS[status] ?? "directory.unknown";
}

function drawOrders(
  visit: Visit,
  name: PlainKey,
  found: readonly z.infer<typeof ownOrderSchema>[],
): JSX.Element {
  return (
    <Table
      language={visit.language}
      name={name}
      none="own.none"
      rows={found}
      columns={{
        "column.payment": (one) => <OwnLink id={one.DomesticPaymentId} />,
        "column.bank": ({ BankId }) => <bdi>{BankId}</bdi>,
        "column.since": (one) => <Instant visit={visit} at={one.StoppedDateTime} />,
      }}
    />
  );
}

type OwnDispute = z.infer<typeof ownDisputeSchema>;

function Disputes({ visit, one: found }: PartProps<readonly OwnDispute[]>): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="disputes.title"
      none="own.none"
      rows={found}
      columns={{
        "column.payment": (one) => <OwnLink id={one.DomesticPaymentId} />,
        "column.openedBy": (one) => <Opener language={language} one={one} />,
        "column.status": (one) => <DisputeState language={language} one={one} />,
        "column.until": ({ DueDateTime: at }) => at ? <Instant visit={visit} at={at} /> : "–",
        "column.next": (one) => (
          <>
            {drawNext(language, one)}
            <bdi class="detail">{one.Statement.at(-1)?.Statement}</bdi>
          </>
        ),
      }}
    />
  );
}

/** What the organisation can do, while the dispute has not ended. */
function drawNext(language: Language, one: OwnDispute): JSX.Element | null {
  if (one.DueDateTime === undefined) return null;
  if (one.NextAction.length === 0) return <>{phrase(language, "disputes.nextWait")}</>;
  const request = <code dir="ltr">POST /{one.BankId}/disputes/v1</code>;
  const key = one.NextAction.includes("Answer") ? "disputes.nextAnswer" : "disputes.nextWithdraw";
  return <>{phrase(language, key, { request })}</>;
}

function OwnLink({ id }: { readonly id: string }): JSX.Element {
  return (
    <a href={`${PATH}?${new URLSearchParams({ q: id })}`}>
      <code dir="ltr">{id}</code>
    </a>
  );
}

type Own = OwnConsent & { readonly DomesticPaymentId?: string };

/** A table of consents or of payments. A bank reads no column with its own name. */
function drawMade(visit: Visit, name: "own.consents" | "own.payments", found: readonly Own[]): JSX.Element {
  const isAtOneBank = found.every(({ BankId }) => BankId === visit.person.organisation);
  const of = name === "own.payments" ? "payment" : "consent";
  return (
    <Table
      language={visit.language}
      name={name}
      none="own.none"
      rows={found}
      columns={{
        [`column.${of}`]: (one: Own) => (
          <>
            <Sum visit={visit} of={one} />
            <br />
            <OwnLink id={one.DomesticPaymentId ?? one.ConsentId} />
          </>
        ),
        "column.bank": !isAtOneBank ? ({ BankId, Bank }) => <Named id={BankId} name={Bank} /> : undefined,
        "column.software": ({ ClientId, Tpp }) => <Named id={ClientId} name={Tpp} />,
        "column.status": (one) => <StatusOf language={visit.language} of={of} status={one.Status} />,
        "column.time": (one) => <Instant visit={visit} at={one.CreationDateTime} />,
      }}
    />
  );
}

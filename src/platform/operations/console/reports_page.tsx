/** Reports: every bank or TPP over some days, or one of them by day with plots beside the table. */
import type { Context } from "hono";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { answerFile } from "./console_page.ts";
import { formatDay } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { Plot } from "../../../pages/plot.tsx";
import { percentOf, timeOf } from "../../../pages/service_levels_page.tsx";
import { BUCKETS, DAY_MS, dayOf } from "../../observed/figures/figures.ts";
import type { Kind, ShownReport, ShownSums } from "../reports/report_representation.ts";
import { reportsSchema } from "../reports/report_representation.ts";
import { type Columns, Day, More, queryOf, Read } from "../../../console/parts.tsx";
import { Table } from "./parts.tsx";
import { Reasons } from "./reasons_table.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import type { Answer, Visit } from "../../../console/visit.ts";

const PATH = "/console/reports";

export interface AskedReport {
  readonly kind: Kind;
  readonly id: string | undefined;
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly after: string | undefined;
}

export async function reportsPage(visit: Visit, asked: AskedReport, now: number): Promise<JSX.Element> {
  const { language } = visit;
  const { kind, ...rest } = asked;
  const answer = await visit.read(`/operations/reports/${kind}${queryOf(rest)}`, reportsSchema);
  const { FromDate: from = asked.from, UntilDate: until = asked.until } = answer.ok ? answer.value.Data : {};
  const shown = { kind, id: asked.id, from, until };
  return (
    <>
      <Kinds language={language} current={kind} span={asked} />
      <Period language={language} shown={shown} />
      <Shortcuts language={language} path={PATH} file={kind} shown={shown} after={asked.after} now={now} />
      <Read visit={visit} answer={answer}>
        {({ Data: { Report: reports, After } }) => (
          <>
            {reports.length === 0
              ? <p class="card">{phrase(language, "reports.none")}</p>
              : asked.id === undefined
              ? drawTotals(language, shown, reports)
              : reports.map((report) => <ByDay language={language} kind={kind} report={report} />)}
            <More visit={visit} path={PATH} query={{ ...shown, after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

/** The pages of reports. */
export function Kinds(
  { language, current, span: { from, until } }: {
    readonly language: Language;
    readonly current: Kind | "funnel";
    readonly span: { readonly from?: string | undefined; readonly until?: string | undefined };
  },
): JSX.Element {
  const pathOf = (kind: Kind | "funnel"): string =>
    kind === "funnel"
      ? `${PATH}/funnel${queryOf({ from, until })}`
      : `${PATH}${queryOf({ kind, from, until })}`;
  return (
    <nav class="tabs" aria-label={words(language, "reports.kinds")}>
      <ul>
        {(["banks", "tpps", "funnel"] as const).map((one) => (
          <li>
            <a href={pathOf(one)} {...(one === current ? { "aria-current": "page" } : {})}>
              {phrase(language, `reports.${one}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

type Shown = Pick<AskedReport, "kind" | "id" | "from" | "until">;

/** Returns the address of the report of a day. */
export function reportPath(kind: Kind, day: string): string {
  return `${PATH}${queryOf({ kind, from: day, until: day })}`;
}

/** Reads a list page by page, to its end or to the first answer that is none. */
export async function* readPages<T extends { readonly Data: { readonly After?: string | undefined } }>(
  visit: Visit,
  path: string,
  schema: z.ZodType<T>,
  asked: Readonly<Record<string, string>> = {},
): AsyncGenerator<Answer<T>> {
  let after: string | undefined;
  do {
    const answer = await visit.read(`${path}${queryOf({ ...asked, after })}`, schema);
    yield answer;
    after = answer.ok ? answer.value.Data.After : undefined;
  } while (after !== undefined);
}

function Period({ language, shown }: { readonly language: Language; readonly shown: Shown }): JSX.Element {
  const { kind, id, from, until } = shown;
  return (
    <Days language={language} action={PATH} from={from} until={until}>
      <input type="hidden" name="kind" value={kind} />
      {id === undefined ? null : <input type="hidden" name="id" value={id} />}
    </Days>
  );
}

const SPANS = [[1, "audit.today"], [7, "reports.week"], [30, "reports.month"]] as const;

/** Links to a page of usual spans. */
export function Spans(
  { language, path, shown, now }: {
    readonly language: Language;
    readonly path: string;
    readonly shown: Readonly<Record<string, string | undefined>>;
    readonly now: number;
  },
): JSX.Element {
  return (
    <>
      {SPANS.map(([days, name]) => (
        <li>
          <a
            href={`${path}${
              queryOf({ ...shown, from: dayOf(now - (days - 1) * DAY_MS), until: dayOf(now) })
            }`}
          >
            {phrase(language, name)}
          </a>
        </li>
      ))}
    </>
  );
}

/** Usual spans, and the same report as a file. */
export function Shortcuts(
  { language, path, file, shown, after, now }: {
    readonly language: Language;
    readonly path: string;
    readonly file: Kind | "funnel";
    readonly shown: Readonly<Record<string, string | undefined>>;
    /** Where the page begins. Its files have what it shows. */
    readonly after?: string | undefined;
    readonly now: number;
  },
): JSX.Element {
  const { kind: _, ...rest } = shown;
  return (
    <ul class="changes">
      <Spans language={language} path={path} shown={shown} now={now} />
      {(["csv", "json"] as const).map((type) => (
        <li>
          <a href={`${PATH}/${file}.${type}${queryOf({ ...rest, after })}`}>
            {phrase(language, `reports.${type}`)}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Answers with a report as a file. */
export async function downloadReport(visit: Visit, c: Context): Promise<Response> {
  const [file = ""] = c.req.path.split("/").slice(-1);
  const path = `/operations/reports/${file.replace(/\.json$/, "")}`;
  return await answerFile(visit, c, `${path}${new URL(c.req.url).search}`, file);
}

/** The form that chooses the first and the last day. */
export function Days(
  { language, action, from, until, children, isFirstRequired = false }: {
    readonly language: Language;
    readonly action: string;
    readonly from: string | undefined;
    readonly until: string | undefined;
    readonly children?: Child;
    readonly isFirstRequired?: boolean;
  },
): JSX.Element {
  return (
    <form class="search" method="get" action={action}>
      {children}
      <div class="field">
        <label for="from">{phrase(language, "reports.from")}</label>
        <input id="from" name="from" type="date" value={from} dir="ltr" required={isFirstRequired} />
      </div>
      <div class="field">
        <label for="until">{phrase(language, "reports.until")}</label>
        <input id="until" name="until" type="date" value={until} dir="ltr" />
      </div>
      <button type="submit">{phrase(language, "reports.show")}</button>
    </form>
  );
}

interface ShownTimes {
  readonly MedianAtMost?: number | null | undefined;
  readonly Percentile95AtMost?: number | null | undefined;
}

function columnsOf(language: Language, kind: Kind): Columns<ShownSums, PlainKey> {
  const number = new Intl.NumberFormat(LOCALES[language]);
  const [percent, time] = [percentOf(language), timeOf(language, BUCKETS.at(-1) ?? 0)];
  const cell = <T,>(value: T | undefined, format: (value: T) => string): Child => (
    <span class="number">{value === undefined ? "–" : format(value)}</span>
  );
  const times = (of: ShownTimes | undefined): Child => {
    const { MedianAtMost: half, Percentile95AtMost: most } = of ?? {};
    if (half === undefined || most === undefined) return cell(undefined, time);
    return (
      <span class="number">
        {time(half)}
        <br />
        {time(most)}
      </span>
    );
  };
  const count = (value: number): Child => cell(value, number.format);
  const ofBanks: Columns<ShownSums, PlainKey> = {
    "column.availability": ({ Availability }) => cell(Availability?.Rate, percent),
    "column.answerRate": ({ Orders }) => cell(Orders?.AnswerRate, percent),
    "column.answeredAtFirst": ({ Orders }) => cell(Orders?.AnsweredAtFirst, number.format),
    "column.answeredLater": ({ Orders }) => cell(Orders?.AnsweredLater, number.format),
    "column.dead": ({ Orders }) => cell(Orders?.GivenUp, number.format),
    "column.answerTime": ({ Orders }) => times(Orders),
  };
  return {
    ...(kind === "banks" ? ofBanks : {}),
    "column.payments": ({ Payments }) => count(Payments),
    "column.requests": ({ Requests }) => count(Requests.Total),
    "column.successRate": ({ Requests }) => cell(Requests.SuccessRate, percent),
    "column.failed": ({ Requests }) => count(Requests.Failed),
    "column.requestTime": ({ Requests }) => times(Requests),
  };
}

function drawTotals(language: Language, shown: Shown, reports: readonly ShownReport[]): JSX.Element {
  const first = shown.kind === "banks" ? "column.bank" : "column.participant";
  return (
    <section class="card">
      <Table
        language={language}
        name="reports.title"
        rows={reports.map(({ Id, Name, Total }) => ({ Id, Name, ...Total }))}
        columns={{
          [first]: ({ Id, Name }: Pick<ShownReport, "Id" | "Name">) => [
            <a href={`${PATH}${queryOf({ ...shown, id: Id })}`}>
              <bdi>{Name}</bdi>
            </a>,
            <span class="detail">
              <code dir="ltr">{Id}</code>
            </span>,
          ],
          ...columnsOf(language, shown.kind),
        }}
      />
    </section>
  );
}

export function ByDay(
  { language, kind, report: { Id, Name, Total, Day: days } }: {
    readonly language: Language;
    readonly kind: Kind;
    readonly report: ShownReport;
  },
): JSX.Element {
  return (
    <section class="card">
      <h2>
        <bdi>{Name}</bdi>
      </h2>
      <p class="subject">
        <code dir="ltr">{Id}</code>
      </p>
      {drawPlots(language, kind, days)}
      <Table
        language={language}
        name="reports.byDay"
        rows={days.toReversed()}
        columns={{
          "column.day": (day) => <Day language={language} at={day.Date} />,
          ...columnsOf(language, kind),
        }}
      />
      <Reasons language={language} columns={[["column.requests", Total.Requests.Reason]]} />
    </section>
  );
}

/** A plot: a title, and the value of a day. */
const PLOTS: readonly (readonly [title: PlainKey, value: (sums: ShownSums) => number | undefined])[] = [
  [
    "reports.plot.unavailable",
    ({ Availability: of }) =>
      of === undefined || of.ObservedMinutes === 0 ? undefined : of.UnavailableMinutes,
  ],
  ["reports.plot.payments", ({ Payments }) => Payments],
  ["reports.plot.requests", ({ Requests }) => Requests.Total],
];

function drawPlots(language: Language, kind: Kind, days: ShownReport["Day"]): JSX.Element {
  return (
    <div class="cards">
      {PLOTS.slice(kind === "banks" ? 0 : 1).map(([title, value]) => (
        <Plot
          title={words(language, title)}
          values={days.map((day) => [formatDay(language, Date.parse(day.Date)), value(day)])}
          least={10}
          format={new Intl.NumberFormat(LOCALES[language]).format}
        />
      ))}
    </div>
  );
}

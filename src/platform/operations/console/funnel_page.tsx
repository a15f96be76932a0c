/** Where customers are lost: the steps of a payment with a plot, the reasons of leaving, and a comparison (contract FUN3). */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatDay } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { Plot } from "../../../pages/plot.tsx";
import { percentOf } from "../../../pages/service_levels_page.tsx";
import { Day, queryOf, Read } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { STEP_BUCKETS } from "../../observed/funnel/funnel.ts";
import {
  type Dimension,
  DIMENSIONS,
  funnelSchema,
  type ShownFunnelRow,
} from "../funnel/funnel_representation.ts";
import { readNames } from "./names.ts";
import { Card, Coded, Table } from "./parts.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { Days, Kinds, Shortcuts } from "./reports_page.tsx";

const PATH = "/console/reports/funnel";

export type AskedFunnel = Readonly<
  Partial<Record<"by" | "bank" | "tpp" | "from" | "until", string | undefined>>
>;

const HEADS: Readonly<Record<Dimension, PlainKey>> = {
  day: "column.day",
  bank: "column.bank",
  tpp: "column.tpp",
  type: "column.consentType",
  language: "column.language",
};

export async function funnelPage(
  visit: Visit,
  { by: sent, bank, tpp, from, until }: AskedFunnel,
  now: number,
): Promise<JSX.Element> {
  const { language } = visit;
  const by = DIMENSIONS.find((one) => one === sent) ?? "bank";
  const shown = { bank, tpp, from, until };
  const read = (dimension: string): ReturnType<typeof visit.read<typeof funnelSchema["_output"]>> =>
    visit.read(
      `/operations/reports/funnel?${new URLSearchParams({ ...given(shown), by: dimension })}`,
      funnelSchema,
    );
  const [all, compared] = await Promise.all([read(""), read(by)]);
  const found = compared.ok && (by === "bank" || by === "tpp") ? compared.value.Data.Row : [];
  const names = await readNames(visit, found.flatMap(({ BankId, TppId }) => BankId ?? TppId ?? []));
  const days = all.ok ? all.value.Data : { FromDate: from, UntilDate: until };
  return (
    <>
      <Kinds language={language} current="funnel" span={shown} />
      <Days language={language} action={PATH} from={days.FromDate} until={days.UntilDate}>
        {Object.entries(given({ by, bank, tpp })).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
      </Days>
      <Shortcuts language={language} path={PATH} file="funnel" shown={{ ...shown, by }} now={now} />
      <Read visit={visit} answer={all}>
        {({ Data: { Row } }) => <Funnel language={language} row={Row[0]} />}
      </Read>
      <Read visit={visit} answer={compared}>
        {({ Data: { Row } }) => (
          <Compared language={language} by={by} shown={shown} rows={Row} names={names} />
        )}
      </Read>
    </>
  );
}

function given(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ""),
  );
}

/** The steps of all consents of the time, and why those that ended so were left. */
export function Funnel(
  { language, row }: { readonly language: Language; readonly row: ShownFunnelRow | undefined },
): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  if (row === undefined) return <p class="card">{phrase(language, "funnel.none")}</p>;
  const [percent, time] = [percentOf(language), secondsOf(language)];
  const first = row.Step[0]?.Cases ?? 0;
  return (
    <Card title={phrase(language, "funnel.steps")}>
      <div class="cards">
        <Plot
          title={words(language, "column.consents")}
          values={row.Step.map(({ Name, Cases }) => [words(language, stepKey(Name)), Cases])}
          least={10}
          format={format}
        />
      </div>
      <Table
        language={language}
        name="funnel.steps"
        rows={row.Step}
        columns={{
          "column.step": ({ Name }) => phrase(language, stepKey(Name)),
          "column.consents": ({ Cases }) => number(format(Cases)),
          "column.ofAll": ({ Cases }) => number(first === 0 ? "–" : percent(Cases / first)),
          "column.halfWithin": ({ MedianAtMost }) => number(time(MedianAtMost)),
          "column.mostWithin": ({ Percentile95AtMost }) => number(time(Percentile95AtMost)),
        }}
      />
      {drawLeft(language, row.Left)}
    </Card>
  );
}

function drawLeft(language: Language, left: ShownFunnelRow["Left"]): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  return (
    <>
      <h3>{phrase(language, "funnel.left")}</h3>
      <Table
        language={language}
        name="funnel.left"
        none="funnel.noneLeft"
        rows={left}
        columns={{
          "column.errorReason": (one) => (
            <Coded language={language} kind="reason" code={one.StatusReasonCode} />
          ),
          "column.lastStep": ({ After }) =>
            phrase(language, stepKey(After)),
          "column.consents": ({ Cases }) => number(format(Cases)),
        }}
      />
    </>
  );
}

function Compared(
  { language, by, shown, rows, names }: {
    readonly language: Language;
    readonly by: Dimension;
    readonly shown: Omit<AskedFunnel, "by">;
    readonly rows: readonly ShownFunnelRow[];
    readonly names: ReadonlyMap<string, string>;
  },
): JSX.Element {
  return (
    <Card title={phrase(language, "funnel.by")}>
      <ul class="changes">
        {DIMENSIONS.map((one) => (
          <li>
            <a
              href={`${PATH}${queryOf({ ...shown, by: one })}`}
              {...(one === by ? { "aria-current": "true" } : {})}
            >
              {phrase(language, HEADS[one])}
            </a>
          </li>
        ))}
      </ul>
      {rows.length === 0
        ? null
        : <FunnelRows language={language} by={by} shown={shown} rows={rows} names={names} />}
    </Card>
  );
}

/** A row for each value, with the consents that reached each step. By day with plots. */
export function FunnelRows(
  { language, by, shown, rows, names }: {
    readonly language: Language;
    readonly by: Dimension;
    /** Of the links to one bank or TPP. Without it there are none. */
    readonly shown?: Omit<AskedFunnel, "by">;
    readonly rows: readonly ShownFunnelRow[];
    /** Of banks or TPPs by their ids. */
    readonly names?: ReadonlyMap<string, string>;
  },
): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  const steps = rows[0]?.Step ?? [];
  return (
    <>
      {by === "day" ? drawPlotsByDay(language, rows) : null}
      <Table
        language={language}
        name="funnel.by"
        rows={rows}
        columns={{
          [HEADS[by]]: (row: ShownFunnelRow) => valueOf(language, by, row, { shown, names }),
          ...Object.fromEntries(steps.map(({ Name }, place) => [
            stepKey(Name),
            ({ Step }: ShownFunnelRow) => number(format(Step[place]?.Cases ?? 0)),
          ])),
        }}
      />
    </>
  );
}

function drawPlotsByDay(language: Language, rows: readonly ShownFunnelRow[]): JSX.Element {
  return (
    <div class="cards">
      {(["Created", "Decided", "Final"] as const).map((step) => (
        <Plot
          title={words(language, `funnel.${step}`)}
          values={rows.map(({ Date: day = "", Step }) => [
            formatDay(language, Date.parse(day)),
            Step.find(({ Name }) => Name === step)?.Cases,
          ])}
          least={10}
          format={new Intl.NumberFormat(LOCALES[language]).format}
        />
      ))}
    </div>
  );
}

function valueOf(
  language: Language,
  by: Dimension,
  { Date: day, BankId, TppId, ConsentType, Language: spoken }: ShownFunnelRow,
  { shown, names }: {
    readonly shown: Omit<AskedFunnel, "by"> | undefined;
    readonly names: ReadonlyMap<string, string> | undefined;
  },
): Child {
  if (day !== undefined) return <Day language={language} at={day} />;
  if (ConsentType !== undefined) return phrase(language, `funnel.${ConsentType}`);
  if (spoken !== undefined) {
    return spoken === "unknown" ? phrase(language, "funnel.unknownLanguage") : nameOf(language, spoken);
  }
  const id = BankId ?? TppId ?? "";
  const name = names?.get(id);
  const code = <code {...(name === undefined ? {} : { class: "detail" })} dir="ltr">{id}</code>;
  const text = name === undefined ? code : <bdi>{name}</bdi>;
  return (
    <>
      {shown === undefined
        ? text
        : <a href={`${PATH}${queryOf({ ...shown, [by]: id, by: "day" })}`}>{text}</a>}
      {name === undefined ? null : code}
    </>
  );
}

/** The name of a language in the reader's own. */
function nameOf(language: Language, spoken: string): string {
  return new Intl.DisplayNames([LOCALES[language]], { type: "language" }).of(spoken) ?? spoken;
}

function stepKey(name: ShownFunnelRow["Step"][number]["Name"]): PlainKey {
  return `funnel.${name}` as PlainKey;
}

function number(text: string): Child {
  return <span class="number">{text}</span>;
}

function secondsOf(language: Language): (seconds: number | null | undefined) => string {
  const { format } = new Intl.NumberFormat(LOCALES[language], { style: "unit", unit: "second" });
  return (seconds) =>
    seconds === undefined
      ? "–"
      : seconds === null
      ? `> ${format(STEP_BUCKETS.at(-1) ?? 0)}`
      : `≤ ${format(seconds)}`;
}

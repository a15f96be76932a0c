/** The last hour of all processes beside the day: sums, reasons, plots by minute, and the same values as a table. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatTime } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { Plot } from "../../../pages/plot.tsx";
import { percentOf, timeOf } from "../../../pages/service_levels_page.tsx";
import { BUCKETS } from "../../observed/figures/figures.ts";
import { MINUTES_SHOWN } from "../../observed/figures/recorder.ts";
import type { lastHourSchema } from "../last_hour_representation.ts";
import { Table } from "./parts.tsx";
import { ordersPath } from "./orders_page.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { reportPath } from "./reports_page.tsx";
import { Reasons } from "./reasons_table.tsx";

type Hour = z.infer<typeof lastHourSchema>["Data"];
type Sums = Hour["Total"];
type MinuteSums = Hour["Minute"][number];

/** A plot: a title, and the value of a minute. */
const PLOTS: readonly (readonly [title: PlainKey, value: (sums: MinuteSums) => number])[] = [
  ["hour.payments", ({ Payments }) => Payments],
  ["hour.rejected", ({ Rejected }) => Rejected],
  ["hour.failed", ({ Failed }) => Failed],
  ["hour.pushes", ({ PushesFailed }) => PushesFailed],
];

export function LastHour(
  { language, hour, day }: {
    readonly language: Language;
    readonly hour: Hour;
    /** Today (UTC). */
    readonly day: string;
  },
): JSX.Element {
  const minutes = hour.Minute.map((minute) =>
    [formatTime(language, Date.parse(minute.DateTime), "UTC"), minute] as const
  );
  return (
    <>
      {drawTotals(language, hour, day)}
      <Plots language={language} minutes={minutes} />
      <Reasons
        language={language}
        columns={[["column.lastHour", hour.Total.Reason], ["column.today", hour.Today.Reason]]}
        href={reportPath("tpps", day)}
      />
      <Values language={language} minutes={minutes} />
    </>
  );
}

type Minute = readonly [time: string, minute: MinuteSums];

interface MinutesProps {
  readonly language: Language;
  readonly minutes: readonly Minute[];
}

/** A number that was 0 in each minute stands among the sums, and has no plot. */
function Plots({ language, minutes }: MinutesProps): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  return (
    <div class="cards">
      {PLOTS.filter(([, value]) => minutes.some(([, minute]) => value(minute) > 0)).map(([title, value]) => (
        <Plot
          title={words(language, title)}
          values={minutes.map(([time, minute]) => [time, value(minute)])}
          least={5}
          format={format}
        />
      ))}
    </div>
  );
}

function Values({ language, minutes }: MinutesProps): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  return (
    <details>
      <summary>{phrase(language, "dashboard.values")}</summary>
      <Table
        language={language}
        name="dashboard.lastHour"
        rows={minutes.toReversed()}
        columns={{
          "column.time": ([time]) => time,
          ...Object.fromEntries(PLOTS.map(([title, value]) => [
            title,
            ([, minute]: Minute) => <span class="number">{format(value(minute))}</span>,
          ])),
        }}
      />
    </details>
  );
}

/** A number of the hour: its name, where it leads, and its value of some sums. */
interface Tile {
  readonly name: PlainKey;
  readonly href: string;
  readonly of: (sums: Sums) => string;
  readonly isBad?: (sums: Sums) => boolean;
}

function tilesOf(language: Language, day: string): readonly Tile[] {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  const [percent, time] = [percentOf(language), timeOf(language, BUCKETS.at(-1) ?? 0)];
  const [tpps, banks] = [reportPath("tpps", day), reportPath("banks", day)];
  return [
    { name: "hour.payments", href: tpps, of: ({ Payments }) => format(Payments) },
    {
      name: "hour.success",
      href: tpps,
      of: (sums) => {
        const requests = sums.Succeeded + sums.Rejected + sums.Failed;
        return requests === 0 ? "–" : percent(sums.Succeeded / requests);
      },
    },
    {
      name: "hour.failed",
      href: tpps,
      of: ({ Failed }) => format(Failed),
      isBad: ({ Failed }) => Failed > 0,
    },
    {
      name: "hour.time",
      href: tpps,
      of: ({ Percentile95AtMost: most }) => most === undefined ? "–" : time(most),
    },
    { name: "hour.orders", href: banks, of: ({ OrdersAnswered }) => format(OrdersAnswered) },
    {
      name: "hour.givenUp",
      href: ordersPath("dead"),
      of: ({ OrdersGivenUp }) => format(OrdersGivenUp),
      isBad: ({ OrdersGivenUp }) => OrdersGivenUp > 0,
    },
    {
      name: "hour.pushes",
      href: ordersPath("waiting"),
      of: ({ PushesFailed }) => format(PushesFailed),
      isBad: ({ PushesFailed }) => PushesFailed > 0,
    },
  ];
}

function drawTotals(language: Language, { Total, Today }: Hour, day: string): JSX.Element {
  const perMinute = new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 1 });
  return (
    <dl class="sums">
      <div>
        <dt>{phrase(language, "hour.perMinute")}</dt>
        <dd>
          <a href={reportPath("tpps", day)}>{perMinute.format(Total.Payments / MINUTES_SHOWN)}</a>
        </dd>
      </div>
      {tilesOf(language, day).map(({ name, href, of, isBad = () => false }) => (
        <div>
          <dt>{phrase(language, name)}</dt>
          <dd class={isBad(Total) ? "bad" : undefined}>
            <a href={href}>{of(Total)}</a>
            <span class="detail">{phrase(language, "hour.today", { value: of(Today) })}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

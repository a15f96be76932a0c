/** The last hour of all processes: sums, plots by minute, and the same values as a table. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatTime } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { Plot } from "../../../pages/plot.tsx";
import { percentOf, timeOf } from "../../../pages/service_levels_page.tsx";
import { BUCKETS } from "../../observed/figures/figures.ts";
import type { lastHourSchema } from "../last_hour_representation.ts";
import { Table } from "./parts.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";

type Hour = z.infer<typeof lastHourSchema>["Data"];
type Sums = Hour["Total"];

/** A plot: a title, and the value of a minute. */
const PLOTS: readonly (readonly [title: PlainKey, value: (sums: Sums) => number])[] = [
  ["hour.payments", ({ Payments }) => Payments],
  ["hour.rejected", ({ Rejected }) => Rejected],
  ["hour.failed", ({ Failed }) => Failed],
  ["hour.pushes", ({ PushesFailed }) => PushesFailed],
];

export function LastHour(
  { language, hour }: { readonly language: Language; readonly hour: Hour },
): JSX.Element {
  const number = new Intl.NumberFormat(LOCALES[language]);
  const minutes = hour.Minute.map((minute) =>
    [formatTime(language, Date.parse(minute.DateTime), "UTC"), minute] as const
  );
  return (
    <>
      <Totals language={language} total={hour.Total} />
      <div class="cards">
        {PLOTS.map(([title, value]) => (
          <Plot
            title={words(language, title)}
            values={minutes.map(([time, minute]) => [time, value(minute)])}
            least={5}
            format={number.format}
          />
        ))}
      </div>
      <details>
        <summary>{phrase(language, "dashboard.values")}</summary>
        <Table
          language={language}
          name="dashboard.lastHour"
          heads={["column.time", ...PLOTS.map(([title]) => title)]}
          rows={minutes.toReversed().map(([time, minute]) => [
            time,
            ...PLOTS.map(([, value]) => <span class="number">{number.format(value(minute))}</span>),
          ])}
        />
      </details>
    </>
  );
}

function Totals({ language, total }: { readonly language: Language; readonly total: Sums }): JSX.Element {
  const number = new Intl.NumberFormat(LOCALES[language]);
  const requests = total.Succeeded + total.Rejected + total.Failed;
  const most = total.Percentile95AtMost;
  const shown: readonly (readonly [PlainKey, string, isBad?: boolean])[] = [
    ["hour.payments", number.format(total.Payments)],
    ["hour.success", requests === 0 ? "–" : percentOf(language)(total.Succeeded / requests)],
    ["hour.failed", number.format(total.Failed), total.Failed > 0],
    ["hour.time", most === undefined ? "–" : timeOf(language, BUCKETS.at(-1) ?? 0)(most)],
    ["hour.orders", number.format(total.OrdersAnswered)],
    ["hour.givenUp", number.format(total.OrdersGivenUp), total.OrdersGivenUp > 0],
    ["hour.pushes", number.format(total.PushesFailed), total.PushesFailed > 0],
  ];
  return (
    <dl class="sums">
      {shown.map(([name, value, isBad = false]) => (
        <div>
          <dt>{phrase(language, name)}</dt>
          <dd class={isBad ? "bad" : undefined}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

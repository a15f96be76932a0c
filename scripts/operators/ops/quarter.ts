/** `deno task ops quarter`: what a regulator asks for of a quarter, by bank and day, from the reports of the banks. */
import type { Reports } from "../../testing/operation_answers.ts";
import { UsageError } from "../../command_line/run.ts";

type Report = Reports["Data"]["Report"][number];
type Value = string | number | null | undefined;

const DAY_MS = 86_400_000;
const MONTHS = 3;

/** Returns the first and the last day of a quarter, such as `2040-Q1`. @throws {UsageError} */
export function daysOfQuarter(text: string): { readonly from: string; readonly until: string } {
  const [, year, quarter] = /^([0-9]{4})-Q([1-4])$/.exec(text) ?? [];
  if (year === undefined) throw new UsageError(`A quarter must be as 2040-Q1; got ${text}.`);
  const month = (Number(quarter) - 1) * MONTHS;
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return {
    from: dayOf(Date.UTC(Number(year), month)),
    until: dayOf(Date.UTC(Number(year), month + MONTHS) - DAY_MS),
  };
}

/** The columns. `deno task quarter-check` recomputes each of them. */
const COLUMNS: Readonly<Record<string, (day: Report["Day"][number]) => Value>> = {
  ObservedMinutes: ({ Availability }) => Availability?.ObservedMinutes,
  UnavailableMinutes: ({ Availability }) => Availability?.UnavailableMinutes,
  DownMinutes: ({ Availability }) => Availability?.DownMinutes,
  OutageMinutes: ({ Availability }) => Availability?.OutageMinutes,
  HeldMinutes: ({ Availability }) => Availability?.HeldMinutes,
  Availability: ({ Availability }) => Availability?.Rate,
  Requests: ({ Requests }) => Requests.Total,
  Rejected: ({ Requests }) => Requests.Rejected,
  Failed: ({ Requests }) => Requests.Failed,
  ErrorRate: ({ Requests: { Total, Failed } }) => Total === 0 ? undefined : rateOf(Failed / Total),
  RequestMedianAtMost: ({ Requests }) => Requests.MedianAtMost,
  RequestPercentile95AtMost: ({ Requests }) => Requests.Percentile95AtMost,
  Payments: ({ Payments }) => Payments,
  Pushes: ({ Orders }) => Orders?.Pushes,
  PushesAnswered: ({ Orders }) => Orders?.Answered,
  PushErrorRate: ({ Orders: { Pushes = 0, Unclear = 0, Unreachable = 0 } = {} }) =>
    Pushes === 0 ? undefined : rateOf((Unclear + Unreachable) / Pushes),
  PushMedianAtMost: ({ Orders }) => Orders?.MedianAtMost,
  PushPercentile95AtMost: ({ Orders }) => Orders?.Percentile95AtMost,
};

/** Rounded up, so that one error among many shows. */
function rateOf(value: number): number {
  return Math.ceil(value * 1e4 - 1e-9) / 1e4;
}

/** A line of the quarter: a bank on a day. */
export type QuarterRow = Readonly<Record<string, Value>>;

/** Returns a row for each bank and day, in this order. A time over 3000 ms is null, an unknown value absent. */
export function quarterRows(reports: readonly Report[]): readonly QuarterRow[] {
  return reports.flatMap(({ Id, Day }) =>
    Day.map((day) => ({
      Date: day.Date,
      BankId: Id,
      ...Object.fromEntries(Object.entries(COLUMNS).map(([name, of]) => [name, of(day)])),
    }))
  );
}

/** Returns the rows as CSV (RFC 4180). A time over 3000 ms is `>3000`. */
export function quarterCsv(rows: readonly QuarterRow[]): string {
  const heads = ["Date", "BankId", ...Object.keys(COLUMNS)];
  const lines = rows.map((row) =>
    heads.map((head) => row[head] === null ? ">3000" : String(row[head] ?? "")).join(",")
  );
  return [heads.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

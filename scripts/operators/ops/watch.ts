/** `deno task ops watch`: the dashboard in a terminal, from the answers of the operations API. */
import type { Alarms, BankStates, LastHour, Processes } from "../../testing/operation_answers.ts";

/** What the dashboard shows. */
export interface Watched {
  readonly alarms: Alarms["Data"];
  readonly hour: LastHour["Data"];
  readonly banks: BankStates["Data"];
  readonly processes: Processes["Data"];
}

/** The requests of the dashboard, below `/operations`. */
export const WATCHED = {
  alarms: "/alarms",
  hour: "/last-hour",
  banks: "/banks",
  processes: "/processes",
} as const;

/** Erases the screen of a terminal (ECMA-48 ED, CUP). */
export const CLEAR = "\x1b[2J\x1b[H";

/** Rows of a list, so that a screen is not longer than a terminal. */
const MAX_ROWS = 15;
const BARS = "▁▂▃▄▅▆▇█";

/** Returns the lines of the dashboard. */
export function drawWatch({ alarms, hour, banks, processes }: Watched): readonly string[] {
  const trouble = banks.Bank.filter((one) => one.State !== "works" || one.Waiting + one.Held + one.Dead > 0);
  return [
    `The hour until ${hour.Minute.at(-1)?.DateTime.slice(0, 16).replace("T", " ") ?? ""} UTC`,
    "",
    ...list(
      "NEEDS ATTENTION",
      ["WHAT", "OF", "VALUE"],
      alarms.Alarm.map(({ Name, Severity, Of, Value }) => [
        `${Severity === "critical" ? "!" : " "} ${Name}`,
        Of,
        String(Value ?? ""),
      ]),
    ),
    ...figures(hour),
    ...list(
      `BANKS that are not idle and well: ${trouble.length} of ${banks.Bank.length}`,
      ["BANK", "STATE", "WAITING", "HELD", "GIVEN UP", "LAST PUSHES"],
      trouble.map((one) => [
        one.BankId,
        one.State,
        ...[one.Waiting, one.Held, one.Dead].map(String),
        `${one.Pushes - one.PushesFailed} of ${one.Pushes} answered`,
      ]),
    ),
    ...list(
      "PROCESSES",
      ["NAME", "STATE", "IN WORK", "FAULTS"],
      processes.Process.map((one) => [one.Name, one.State, String(one.RequestsInWork), one.Fault.join("; ")]),
    ),
  ];
}

function figures({ Total, Today, Minute }: Watched["hour"]): readonly string[] {
  type Sums = Watched["hour"]["Total"];
  const of = (name: string, value: (sums: Sums) => string): string[] => [name, value(Total), value(Today)];
  return [
    ...list("FIGURES", ["", "LAST HOUR", "TODAY"], [
      of("Payments", ({ Payments }) => String(Payments)),
      of("Requests that succeeded", ({ Succeeded, Rejected, Failed }) => {
        const all = Succeeded + Rejected + Failed;
        return all === 0 ? "-" : `${(Succeeded / all * 100).toFixed(1)} %`;
      }),
      of("Requests that failed", ({ Failed }) => String(Failed)),
      of(
        "Request time of 95 %",
        ({ Percentile95AtMost: most }) =>
          most === undefined ? "-" : most === null ? "> 3000 ms" : `<= ${most} ms`,
      ),
      of("Orders answered", ({ OrdersAnswered }) => String(OrdersAnswered)),
      of("Orders given up", ({ OrdersGivenUp }) => String(OrdersGivenUp)),
      of("Pushes that failed", ({ PushesFailed }) => String(PushesFailed)),
    ]),
    `Payments by minute  ${bars(Minute.map(({ Payments }) => Payments))}`,
    "",
    ...list(
      "REJECTED AND FAILED REQUESTS",
      ["REASON", "LAST HOUR"],
      Total.Reason.map((one) => [one.Reason, String(one.Requests)]),
    ),
  ];
}

/** A bar for each value; the highest one is full, and none is a blank. */
function bars(values: readonly number[]): string {
  const top = Math.max(1, ...values);
  return values.map((value) => value === 0 ? "·" : BARS[Math.ceil(value / top * BARS.length) - 1]).join("");
}

/** A head, and a row a line with aligned columns. */
function list(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [title, "  none", ""];
  const shown = [heads, ...rows.slice(0, MAX_ROWS).map((row) => row.map(printable))];
  const widths = heads.map((_, column) => Math.max(...shown.map((row) => [...row[column] ?? ""].length)));
  const lines = shown.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()}`
  );
  const more = rows.length > MAX_ROWS ? [`  and ${rows.length - MAX_ROWS} more`] : [];
  return [title, ...lines, ...more, ""];
}

/** Texts of others must not change the terminal. */
export function printable(value: unknown): string {
  return String(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}

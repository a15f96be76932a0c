/** Reports on the wire: JSON, and CSV with a line for each day. */
import { z } from "@hono/zod-openapi";
import { boundOf } from "../../observed/figures/figures.ts";
import {
  answerRate,
  availability,
  ordersOf,
  pushesOf,
  type Report,
  successRate,
  type Sums,
} from "./report.ts";
import { dataSchema } from "../../guards/http/operation_answers.ts";

export const reasonsSchema = z.array(
  z.strictObject({
    Reason: z.string().openapi({ description: "Of the error catalogue.", example: "token.expired" }),
    Requests: z.int(),
  }).openapi("CountedReason"),
).openapi({ description: "Requests that did not succeed, by reason, the most frequent first." });

export function representReasons(reasons: Readonly<Record<string, number>>): z.infer<typeof reasonsSchema> {
  return Object.entries(reasons)
    .toSorted(([a, one], [b, other]) => other - one || a.localeCompare(b))
    .map(([Reason, Requests]) => ({ Reason, Requests }));
}

const rate = z.number().min(0).max(1).openapi({ description: "A part of 1, with four decimals." });
const bound = z.number().nullable().openapi({
  description: "Milliseconds. The upper bound of the class of times that it is in; null if it is over 3000.",
});
const times = { MedianAtMost: bound.optional(), Percentile95AtMost: bound.optional() };

const sums = {
  Requests: z.strictObject({
    Total: z.int(),
    Succeeded: z.int(),
    Rejected: z.int().openapi({ description: "Answered with 4xx." }),
    Failed: z.int().openapi({ description: "Answered with 5xx." }),
    SuccessRate: rate.optional(),
    ...times,
    Reason: reasonsSchema,
  }),
  Payments: z.int().openapi({ description: "Payments that were made. A repeated request counts once." }),
  Orders: z.strictObject({
    Total: z.int().openapi({ description: "Pushed orders that came to an end." }),
    AnsweredAtFirst: z.int().openapi({ description: "The bank answered the first push." }),
    AnsweredLater: z.int().openapi({ description: "The bank answered a later push." }),
    GivenUp: z.int().openapi({
      description: "The platform gave the order up. If it is tried again after that, it counts again.",
    }),
    AnswerRate: rate.optional().openapi({ description: "The part of `Total` that the bank answered." }),
    Pushes: z.int().openapi({ description: "Attempts to hand an order to the bank, with their results:" }),
    Answered: z.int().openapi({ description: "With a status of the payment." }),
    Refused: z.int().openapi({ description: "4xx." }),
    Unclear: z.int().openapi({ description: "Without a usable answer." }),
    Unreachable: z.int().openapi({ description: "No connection, no answer in time, or 5xx." }),
    ...times,
  }).optional().openapi({ description: "Of a bank." }),
  Availability: z.strictObject({
    Rate: rate.optional(),
    ObservedMinutes: z.int().openapi({ description: "In which a process of the platform has looked." }),
    UnavailableMinutes: z.int().openapi({
      description: "A minute that counts below twice counts here once.",
    }),
    HeldMinutes: z.int(),
    OutageMinutes: z.int(),
    DownMinutes: z.int().openapi({ description: "In which the bank did not answer orders." }),
  }).optional().openapi({ description: "Of a bank." }),
};

/** Schema of a report. */
export const reportSchema = z.strictObject({
  Id: z.string(),
  Name: z.string(),
  Total: z.strictObject(sums),
  Day: z.array(z.strictObject({ Date: z.iso.date(), ...sums })),
}).openapi("Report");

/** Schema of a page of reports. */
export const reportsSchema = dataSchema({
  FromDate: z.iso.date(),
  UntilDate: z.iso.date(),
  Report: z.array(reportSchema),
  After: z.string().optional().openapi({ description: "Where the next page begins. Absent at the end." }),
});
export type ShownReport = z.infer<typeof reportsSchema>["Data"]["Report"][number];
export type ShownSums = ShownReport["Total"];

export type Kind = "banks" | "tpps";

export function representReport(kind: Kind, { subject, total, days }: Report): ShownReport {
  return {
    Id: subject.id,
    Name: subject.name,
    Total: representSums(kind, total),
    Day: days.map(({ day, sums }) => ({ Date: day, ...representSums(kind, sums) })),
  };
}

function representSums(kind: Kind, all: Sums): ShownSums {
  const { counts } = all;
  const { succeeded, rejected, failed, payments } = counts;
  const { observed, held, outage, down, unavailable } = all.minutes;
  const requests = {
    Requests: {
      Total: succeeded + rejected + failed,
      Succeeded: succeeded,
      Rejected: rejected,
      Failed: failed,
      SuccessRate: roundDown(successRate(all)),
      ...timesOf(all.times.requests),
      Reason: representReasons(all.reasons),
    },
    Payments: payments,
  };
  if (kind === "tpps") return requests;
  return {
    ...requests,
    Orders: representOrders(all),
    Availability: {
      Rate: roundDown(availability(all)),
      ObservedMinutes: observed,
      UnavailableMinutes: unavailable,
      HeldMinutes: held,
      OutageMinutes: outage,
      DownMinutes: down,
    },
  };
}

function representOrders(all: Sums): NonNullable<ShownSums["Orders"]> {
  const { counts } = all;
  return {
    Total: ordersOf(counts),
    AnsweredAtFirst: counts.answeredAtFirst,
    AnsweredLater: counts.answeredLater,
    GivenUp: counts.givenUp,
    AnswerRate: roundDown(answerRate(all)),
    Pushes: pushesOf(counts),
    Answered: counts.answered,
    Refused: counts.refused,
    Unclear: counts.unclear,
    Unreachable: counts.unreachable,
    ...timesOf(all.times.pushes),
  };
}

/** Rounded down, so that a bank with one minute of outage does not show as always available. */
export function roundDown(value: number | undefined, decimals = 4): number | undefined {
  const one = 10 ** decimals;
  return value === undefined ? undefined : Math.floor(value * one + 1e-9) / one;
}

function timesOf(numbers: readonly number[]): Pick<ShownSums["Requests"], keyof typeof times> {
  return { MedianAtMost: boundOf(numbers, 0.5), Percentile95AtMost: boundOf(numbers, 0.95) };
}

const COLUMNS: readonly (readonly [name: string, of: (sums: ShownSums) => number | null | undefined])[] = [
  ["Requests", ({ Requests }) => Requests.Total],
  ["Succeeded", ({ Requests }) => Requests.Succeeded],
  ["Rejected", ({ Requests }) => Requests.Rejected],
  ["Failed", ({ Requests }) => Requests.Failed],
  ["SuccessRate", ({ Requests }) => Requests.SuccessRate],
  ["RequestMedianAtMost", ({ Requests }) => Requests.MedianAtMost],
  ["RequestPercentile95AtMost", ({ Requests }) => Requests.Percentile95AtMost],
  ["Payments", ({ Payments }) => Payments],
  ["Orders", ({ Orders }) => Orders?.Total],
  ["OrdersAnsweredAtFirst", ({ Orders }) => Orders?.AnsweredAtFirst],
  ["OrdersAnsweredLater", ({ Orders }) => Orders?.AnsweredLater],
  ["OrdersGivenUp", ({ Orders }) => Orders?.GivenUp],
  ["AnswerRate", ({ Orders }) => Orders?.AnswerRate],
  ["Pushes", ({ Orders }) => Orders?.Pushes],
  ["PushesAnswered", ({ Orders }) => Orders?.Answered],
  ["PushesRefused", ({ Orders }) => Orders?.Refused],
  ["PushesUnclear", ({ Orders }) => Orders?.Unclear],
  ["PushesUnreachable", ({ Orders }) => Orders?.Unreachable],
  ["OrderMedianAtMost", ({ Orders }) => Orders?.MedianAtMost],
  ["OrderPercentile95AtMost", ({ Orders }) => Orders?.Percentile95AtMost],
  ["Availability", ({ Availability }) => Availability?.Rate],
  ["ObservedMinutes", ({ Availability }) => Availability?.ObservedMinutes],
  ["UnavailableMinutes", ({ Availability }) => Availability?.UnavailableMinutes],
  ["HeldMinutes", ({ Availability }) => Availability?.HeldMinutes],
  ["OutageMinutes", ({ Availability }) => Availability?.OutageMinutes],
  ["DownMinutes", ({ Availability }) => Availability?.DownMinutes],
];

/** Returns the reports as CSV (RFC 4180), a line for each day. A time over 3000 ms is `>3000`. */
export function csvOf(reports: readonly ShownReport[]): string {
  const head = ["Date", "Id", "Name", ...COLUMNS.map(([name]) => name)];
  const lines = reports.flatMap(({ Id, Name, Day }) =>
    Day.map(({ Date: date, ...day }) => {
      const cells = COLUMNS.map(([, of]) => of(day));
      return [
        date,
        field(Id),
        field(Name),
        ...cells.map((cell) => cell === null ? ">3000" : String(cell ?? "")),
      ];
    })
  );
  return [head, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/** Names are other parties' texts: a spreadsheet must not read one as a formula. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** The funnel on the wire: JSON, and CSV with a line for each row (contract FUN3). */
import { z } from "@hono/zod-openapi";
import { REASON_CODES } from "../../../base/values/reason_codes.ts";
import { boundOf } from "../../observed/figures/figures.ts";
import { addSums, type FunnelSums, noSums, STEP_BUCKETS } from "../../observed/funnel/funnel.ts";
import { CONSENT_TYPES, type Step, STEPS } from "../../observed/funnel/journey.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { FunnelStore } from "../../observed/funnel/funnel_store.ts";
import { dataSchema } from "../../guards/http/operation_answers.ts";

/** What the funnel can be divided by. */
export const DIMENSIONS = ["day", "bank", "tpp", "type", "language"] as const;

export type Dimension = typeof DIMENSIONS[number];

/** One row of a report: what it is about, and its sums. */
interface FunnelRow {
  readonly of: Readonly<Partial<Record<Dimension, string>>>;
  readonly sums: FunnelSums;
}

export interface FunnelAsked {
  /** Oldest first. */
  readonly days: readonly string[];
  readonly by: readonly Dimension[];
  /** Whose sums are added up. An absent member means all. */
  readonly of: readonly { readonly bank?: string | undefined; readonly clientId?: string | undefined }[];
}

/** Rows of an answer, stored sums that one request reads, and reads for them. */
const [MAX_ROWS, MAX_READ, MAX_READS] = [2000, 200_000, 40_000];

/**
 * Returns the rows in the order of their days, banks, TPPs, types and languages.
 *
 * @throws {ApiError} `operations.invalid_request` if there are too many
 */
export async function readFunnel(
  { funnel }: { readonly funnel: Pick<FunnelStore, "read"> },
  { days, by, of }: FunnelAsked,
): Promise<readonly FunnelRow[]> {
  const rows = new Map<string, FunnelRow>();
  if (days.length * of.length > MAX_READS) throw tooMany();
  let read = 0;
  for (const day of days) {
    for (const found of (await Promise.all(of.map((one) => funnel.read({ day, ...one }, by)))).flat()) {
      if (++read > MAX_READ) throw tooMany();
      for (const part of found.parts) {
        const all = { day, bank: found.bank, tpp: found.clientId, type: part.type, language: part.language };
        const name = by.map((dimension) => all[dimension]).join(" ");
        const row = rows.get(name) ??
          { of: Object.fromEntries(by.map((one) => [one, all[one]])), sums: noSums() };
        if (rows.size >= MAX_ROWS && !rows.has(name)) throw tooMany();
        rows.set(name, row);
        addSums(row.sums, part);
      }
    }
  }
  return [...rows].toSorted(([one], [other]) => one < other ? -1 : 1).map(([, row]) => row);
}

function tooMany(): ApiError {
  const description =
    `more than ${MAX_ROWS} rows, or too many to add up: choose a bank, a TPP, fewer days or fewer dimensions`;
  return new ApiError("operations.invalid_request", { description });
}

/** The steps on the wire. */
export const STEP_NAMES: Readonly<Record<Step, string>> = {
  created: "Created",
  pushed: "Pushed",
  opened: "Opened",
  atBank: "AtBank",
  returned: "Returned",
  decided: "Decided",
  paid: "Paid",
  final: "Final",
};
const stepNames = STEPS.map((step) => STEP_NAMES[step]);

const seconds = z.number().nullable().openapi({
  description: "Seconds. The upper bound of the class that it is in; null if it is over a day.",
});

export const funnelRowSchema = z.strictObject({
  Date: z.iso.date().optional().openapi({ description: "The day (UTC) on which the consents were created." }),
  BankId: z.string().optional(),
  TppId: z.string().optional().openapi({ description: "Client id." }),
  ConsentType: z.enum(CONSENT_TYPES).optional(),
  Language: z.string().optional().openapi({
    description:
      "Of the page on which the customer decided, else the first one that the TPP asked for; `unknown` if neither is known.",
  }),
  Step: z.array(z.strictObject({
    Name: z.enum(stepNames),
    Cases: z.int().openapi({ description: "Consents that have reached this step." }),
    MedianAtMost: seconds.optional().openapi({ description: "From the step before to this one." }),
    Percentile95AtMost: seconds.optional(),
  })),
  Left: z.array(z.strictObject({
    After: z.enum(stepNames).openapi({ description: "The last step that they have reached." }),
    StatusReasonCode: z.enum(REASON_CODES),
    Cases: z.int(),
  })).openapi({ description: "Consents and payments that were rejected or expired, most frequent first." }),
}).openapi("FunnelRow");

export const funnelSchema = dataSchema({
  FromDate: z.iso.date(),
  UntilDate: z.iso.date(),
  Row: z.array(funnelRowSchema),
});

export type ShownFunnelRow = z.infer<typeof funnelRowSchema>;

export function representFunnelRow({ of, sums }: FunnelRow): ShownFunnelRow {
  return {
    Date: of.day,
    BankId: of.bank,
    TppId: of.tpp,
    ConsentType: of.type as ShownFunnelRow["ConsentType"],
    Language: of.language,
    Step: STEPS.map((step) => ({
      Name: STEP_NAMES[step],
      Cases: sums.reached[step] ?? 0,
      MedianAtMost: boundOf(sums.times[step], 0.5, STEP_BUCKETS),
      Percentile95AtMost: boundOf(sums.times[step], 0.95, STEP_BUCKETS),
    })),
    Left: representLeft(sums),
  };
}

function representLeft({ left }: FunnelSums): ShownFunnelRow["Left"] {
  return Object.entries(left).toSorted(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
    .map(([name, Cases]) => {
      const [after, code] = name.split(" ");
      return {
        After: STEP_NAMES[after as Step],
        StatusReasonCode: code as ShownFunnelRow["Left"][number]["StatusReasonCode"],
        Cases,
      };
    });
}

const HEADS = [
  "Date",
  "BankId",
  "TppId",
  "ConsentType",
  "Language",
  ...stepNames,
  ...stepNames.slice(1).flatMap((name) => [`${name}MedianAtMost`, `${name}Percentile95AtMost`]),
  "Left",
];

/**
 * Returns the rows as CSV (RFC 4180). A time over a day is `>86400`. `Left` has the reasons as `Opened DS24 3`, separated by
 * semicolons. No cell is a text of another party.
 */
export function funnelCsv(rows: readonly ShownFunnelRow[]): string {
  const lines = rows.map(({ Date: date, BankId, TppId, ConsentType, Language, Step: steps, Left }) => {
    const time = (value: number | null | undefined): string =>
      value === null ? ">86400" : String(value ?? "");
    return [
      ...[date, BankId, TppId, ConsentType, Language].map((cell) => cell ?? ""),
      ...steps.map(({ Cases }) => String(Cases)),
      ...steps.slice(1).flatMap(({ MedianAtMost, Percentile95AtMost }) =>
        [MedianAtMost, Percentile95AtMost].map(time)
      ),
      Left.map(({ After, StatusReasonCode, Cases }) => `${After} ${StatusReasonCode} ${Cases}`).join(";"),
    ];
  });
  return [HEADS, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

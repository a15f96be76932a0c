/** Adds the funnel of days up by what the reader asks for (contract FUN3). */
import { ApiError } from "../../../base/kernel/api_error.ts";
import { addSums, type FunnelSums, noSums } from "../../observed/funnel/funnel.ts";
import type { FunnelStore } from "../../observed/funnel/funnel_store.ts";

/** What the funnel can be divided by. */
export const DIMENSIONS = ["day", "bank", "tpp", "type", "language"] as const;

export type Dimension = typeof DIMENSIONS[number];

/** One row of a report: what it is about, and its sums. */
export interface FunnelRow {
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

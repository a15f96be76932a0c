/** Prints the fuzzer's report: each finding with the command that repeats it, and a table of the attempts. */
import type { FuzzOptions } from "./options.ts";
import { type Attempt, bodyText, requestOf } from "./sample_request.ts";

/** A violated requirement. */
export interface Finding {
  readonly target: string;
  /** Number of the mutation; absent for the unchanged request. */
  readonly number?: number;
  readonly wrong: string;
  readonly attempt: Attempt;
}

/** Statuses of a target's responses; 0 means no response. */
export interface Tally {
  readonly name: string;
  readonly statuses: Map<number, number>;
}

const MAX_BODY_CHARACTERS = 4000;

/** An empty tally. */
export function tallyOf(name: string): Tally {
  return { name, statuses: new Map() };
}

/** Number of responses in a tally with such a status. */
export function countOf({ statuses }: Tally, wanted: (status: number) => boolean): number {
  return [...statuses].reduce((sum, [status, count]) => sum + (wanted(status) ? count : 0), 0);
}

/** Equal for findings that probably have one cause. */
export function findingKind({ target, wrong }: Finding): string {
  const [line = ""] = wrong.split("\n");
  return `${target} ${line.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "#").slice(0, 200)}`;
}

/** A finding, the request, and the command that repeats it. */
export function formatFinding(
  { target, number, wrong, attempt }: Finding,
  { seed, only }: FuzzOptions,
): readonly string[] {
  const { method, url, headers } = requestOf(attempt);
  const again = number === undefined ? ` --mutations 0` : ` --first ${number} --mutations 1`;
  const within = only === "" ? "" : ` --only ${JSON.stringify(only)}`;
  return [
    `FINDING ${number ?? "-"} ${target}: ${wrong}`,
    `  sent ${method} ${url}`,
    ...[...headers].map(([name, value]) => `    ${name}: ${value}`),
    ...(attempt.body === undefined
      ? []
      : [`    ${JSON.stringify(bodyText(attempt).slice(0, MAX_BODY_CHARACTERS))}`]),
    `  repeat with: deno task fuzz --seed ${seed}${again}${within}`,
  ];
}

/** The table and its totals. */
export function summary(
  tallies: readonly Tally[],
  findings: readonly Finding[],
  { tried, milliseconds }: { readonly tried: number; readonly milliseconds: number },
): readonly string[] {
  const kinds = new Set(findings.map(findingKind)).size;
  const columns = (cells: readonly unknown[]): string =>
    cells.map((cell, index) => index === 0 ? String(cell).padEnd(56) : String(cell).padStart(9)).join("");
  const rows = tallies.map((tally) => {
    const found = findings.filter(({ target }) => target === tally.name).length;
    const statuses = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, count]) =>
      `${status}×${count}`
    );
    const cells = [
      tally.name,
      countOf(tally, () => true),
      countOf(tally, isTaken),
      countOf(tally, isRejected),
      found,
    ];
    return `${columns(cells)}  ${statuses.join(" ")}`;
  });
  const rate = Math.round(tried / Math.max(0.001, milliseconds / 1000));
  return [
    columns(["", "tried", "taken", "refused", "findings"]),
    ...rows,
    `${tried} mutations in ${(milliseconds / 1000).toFixed(1)} s, ${rate} a second; ` +
    `${findings.length} findings of ${kinds} kinds`,
  ];
}

/** Returns whether the request succeeded. */
export function isTaken(status: number): boolean {
  return status >= 200 && status < 400;
}

export function isRejected(status: number): boolean {
  return status >= 400 && status < 500;
}

/**
 * Recomputes what `deno task ops quarter` reports from what the platform has exported elsewhere: the spans that a collector
 * has received, and the histories. It shares no code with the platform, so that an auditor can read all of it.
 */

export interface Recomputed {
  /** Banks and days with spans, `2040-01-15 BANKA`. */
  readonly names: readonly string[];
  /** Returns what the report must have of a bank on a day. */
  row(name: string): Readonly<Record<string, string>>;
}

/** Why a bank was not available in a minute. */
type Cause = "down" | "outage" | "held";

interface Span {
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly end: number;
  readonly of: Readonly<Record<string, string>>;
}

interface Times {
  /** Microseconds. */
  readonly all: number[];
}

interface Sums {
  requests: number;
  rejected: number;
  failed: number;
  payments: number;
  pushes: number;
  answered: number;
  unanswered: number;
  readonly requestTimes: Times;
  readonly pushTimes: Times;
  /** Minutes since the Unix epoch. */
  readonly minutes: Readonly<Record<Cause, Set<number>>>;
}

/** Upper bounds of the classes of times, milliseconds. */
const CLASSES = [50, 100, 250, 500, 1000, 2000, 3000];
/** A bank is down from the first of so many pushes in a row that it did not answer. */
const FAILURES = 5;
/** It counts as down no longer than this after the last push. */
const QUIET_MS = 15 * 60_000;

/**
 * @param exports bodies that the collector has received, each an `ExportTraceServiceRequest` in OTLP's JSON
 * @param pages answers of `GET /operations/audit`
 */
export function recompute(exports: readonly unknown[], pages: readonly unknown[]): Recomputed {
  const spans = exports.flatMap(spansIn).toSorted((one, other) => one.end - other.end);
  const sums = new Map<string, Sums>();
  const at = (time: number, bank: string): Sums => {
    const name = `${dayOf(time)} ${bank}`;
    const found = sums.get(name) ?? noSums();
    sums.set(name, found);
    return found;
  };
  const banks = new Map<string, string>();
  const observed = new Set<number>();
  for (const { name, end, of } of spans) {
    const bank = of["payment.bank"];
    if (name === "watch banks") observed.add(minuteOf(end));
    if (bank === undefined) continue;
    const cause = of["payment.cause"] ?? "";
    if (name === "unavailable bank") at(end, bank).minutes[cause as Cause].add(minuteOf(end));
    const [interaction, client] = [of["payment.interaction_id"], of["payment.client_id"]];
    if (name === "push order") countPush(at(end, bank), of);
    if (interaction === undefined || client === undefined || of["payment.org_id"] === bank) continue;
    banks.set(interaction, bank);
    countRequest(at(end, bank), of);
  }
  for (const entry of pages.flatMap(entriesIn)) {
    const bank = banks.get(entry.InteractionId ?? "");
    const isCreation = entry.Sequence === 1 && entry.Event.startsWith("payment.");
    if (isCreation && bank !== undefined) at(Date.parse(entry.DateTime), bank).payments++;
  }
  for (const [bank, pushes] of Map.groupBy(spans.filter(isPush), ({ of }) => of["payment.bank"] ?? "")) {
    for (const [from, until] of downtimes(pushes)) {
      for (let minute = minuteOf(from); minute * 60_000 <= until; minute++) {
        at(minute * 60_000, bank).minutes.down.add(minute);
      }
    }
  }
  const days = Map.groupBy(observed, (minute) => dayOf(minute * 60_000));
  return {
    names: [...sums.keys()],
    row: (name) => shown(sums.get(name) ?? noSums(), new Set(days.get(name.slice(0, 10)))),
  };
}

function minuteOf(time: number): number {
  return Math.floor(time / 60_000);
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function isPush({ name }: Span): boolean {
  return name === "push order";
}

function countRequest(sums: Sums, of: Span["of"]): void {
  const status = Number(of["http.response.status_code"]);
  sums.requests++;
  if (status >= 500) sums.failed++;
  else if (status >= 400) sums.rejected++;
  sums.requestTimes.all.push(Number(of["payment.microseconds"]));
}

function countPush(sums: Sums, of: Span["of"]): void {
  const result = of["payment.push_result"];
  sums.pushes++;
  if (result === "unclear" || result === "unreachable") sums.unanswered++;
  if (result !== "answered") return;
  sums.answered++;
  sums.pushTimes.all.push(Number(of["payment.microseconds"]));
}

/** Returns from when until when a bank was down. A push that it refused concerns only its order. */
function downtimes(pushes: readonly Span[]): readonly (readonly [from: number, until: number])[] {
  const found: [number, number][] = [];
  let run: number[] = [];
  const end = (until: number): void => {
    const [first] = run;
    if (first !== undefined && run.length >= FAILURES) found.push([first, until]);
    run = [];
  };
  for (const { end: at, of } of pushes) {
    const last = run.at(-1);
    if (last !== undefined && at - last > QUIET_MS) end(last + QUIET_MS);
    if (of["payment.push_result"] === "answered") end(at);
    else if (of["payment.push_result"] !== "refused") run.push(at);
  }
  end((run.at(-1) ?? 0) + QUIET_MS);
  return found;
}

function noSums(): Sums {
  const counts = { requests: 0, rejected: 0, failed: 0, payments: 0, pushes: 0, answered: 0, unanswered: 0 };
  const minutes = { down: new Set<number>(), outage: new Set<number>(), held: new Set<number>() };
  return { ...counts, requestTimes: { all: [] }, pushTimes: { all: [] }, minutes };
}

/** A minute in which the platform did not look counts neither for the bank nor against it. */
function shown(sums: Sums, observed: ReadonlySet<number>): Readonly<Record<string, string>> {
  const { down, outage, held } = sums.minutes;
  const number = (minutes: ReadonlySet<number>): number => minutes.intersection(observed).size;
  const unavailable = number(down.union(outage).union(held));
  return {
    ObservedMinutes: String(observed.size),
    UnavailableMinutes: String(unavailable),
    DownMinutes: String(number(down)),
    OutageMinutes: String(number(outage)),
    HeldMinutes: String(number(held)),
    Availability: observed.size === 0
      ? ""
      : String(Math.floor((observed.size - unavailable) / observed.size * 1e4 + 1e-9) / 1e4),
    Requests: String(sums.requests),
    Rejected: String(sums.rejected),
    Failed: String(sums.failed),
    ErrorRate: rate(sums.failed, sums.requests),
    RequestMedianAtMost: classOf(sums.requestTimes, 0.5),
    RequestPercentile95AtMost: classOf(sums.requestTimes, 0.95),
    Payments: String(sums.payments),
    Pushes: String(sums.pushes),
    PushesAnswered: String(sums.answered),
    PushErrorRate: rate(sums.unanswered, sums.pushes),
    PushMedianAtMost: classOf(sums.pushTimes, 0.5),
    PushPercentile95AtMost: classOf(sums.pushTimes, 0.95),
  };
}

function rate(part: number, all: number): string {
  return all === 0 ? "" : String(Math.ceil(part / all * 1e4 - 1e-9) / 1e4);
}

/** The bound of the class that the smallest time is in which this part of the times does not exceed. */
function classOf({ all }: Times, part: number): string {
  const sorted = all.toSorted((one, other) => one - other);
  const time = sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
  if (time === undefined) return "";
  return String(CLASSES.find((bound) => time <= bound * 1000) ?? ">3000");
}

/** Returns the differences between the CSV of `deno task ops quarter` and what was recomputed, a sentence each. */
export function differences(csv: string, recomputed: Recomputed): readonly string[] {
  const [head = "", ...lines] = csv.split(/\r?\n/).filter((line) => line !== "");
  const heads = head.split(",");
  const found: string[] = [];
  const known = new Set<string>();
  for (const cells of lines.map((line) => line.split(","))) {
    const row = Object.fromEntries(heads.map((name, place) => [name, cells[place] ?? ""]));
    const name = `${row["Date"]} ${row["BankId"]}`;
    known.add(name);
    for (const [column, value] of Object.entries(recomputed.row(name))) {
      if (row[column] !== value) found.push(`${name}: ${column} is ${row[column]}, recomputed ${value}`);
    }
  }
  return [
    ...found,
    ...recomputed.names.filter((name) => !known.has(name)).map((name) => `${name} has no row`),
  ];
}

interface Entry {
  readonly DateTime: string;
  readonly Event: string;
  readonly Sequence: number;
  readonly InteractionId?: string;
}

function entriesIn(page: unknown): readonly Entry[] {
  return (page as { readonly Data: { readonly Entry: readonly Entry[] } }).Data.Entry;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

interface ExportedSpan {
  readonly name: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}

function spansIn(body: unknown): readonly Span[] {
  const { resourceSpans } = body as {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)).map((span) => ({
    name: span.name,
    end: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
    of: Object.fromEntries(
      span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]),
    ),
  }));
}

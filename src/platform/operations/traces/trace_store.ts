/**
 * Stores traces for a number of days. Those of one pass are in one row, because a row costs more than what is in it, and
 * `trace_run_store.ts` finds the row by each reader, so that no reader can list the traces of another one. An interaction id is
 * chosen by the caller, so requests of several parties may have the same one.
 */
import { z } from "zod";
import {
  clientId,
  count,
  defineRecord,
  flag,
  instant,
  optional,
  text,
  texts,
} from "../../../base/store/record.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { Store, Write } from "../../../base/store/store.ts";
import { traceKey } from "../../config/store_keys.ts";
import { asBystander, type ReadableTrace, type Trace } from "./trace.ts";
import {
  aboutOf,
  beginningOf,
  openTraceIndex,
  placeAt,
  placeIn,
  readerOf,
  termOf,
  type TraceIndex,
} from "./trace_run_store.ts";

/** The reader of traces whose client is not proven. No client has this id. */
const NO_CLIENT = "unknown";
/** The subject of a list of rejected requests. No consent or payment has this id. */
export const REJECTED = "rejected";

export interface TraceStore extends Pick<TraceIndex, "merge"> {
  /** Stores traces in one commit. @throws {StoreFailure} */
  write(traces: readonly ReadableTrace[]): Promise<void>;
  /**
   * Returns a reader's newest traces of one interaction, newest first; without a reader, those of each caller, so that
   * none displaces those of another one.
   */
  byInteraction(interactionId: string, reader?: string): Promise<FoundTraces>;
  /** Returns a reader's newest traces about a consent, a payment or {@link REJECTED}. */
  about(reader: string, subject: string): Promise<readonly Trace[]>;
}

export interface FoundTraces {
  readonly traces: readonly Trace[];
  /** Whether there are no others. */
  readonly isComplete: boolean;
}

const rejection = z.looseObject({
  reason: text,
  toldReason: optional(text),
  told: optional(text),
  faults: optional(z.array(z.looseObject({ code: text, path: optional(text), message: text }))),
  detail: optional(text),
});

const trace: z.ZodType<Trace> = z.looseObject({
  interactionId: text,
  at: instant,
  milliseconds: count,
  method: text,
  route: text,
  status: count,
  clientId: optional(text),
  orgId: optional(text),
  bank: optional(text),
  consentId: optional(text),
  paymentId: optional(text),
  sessionId: optional(text),
  checks: texts,
  passed: count,
  rejection: optional(rejection),
  received: optional(z.array(z.looseObject({ name: text, header: text, claims: optional(text) }))),
  calls: z.array(
    z.looseObject({
      to: z.enum(["bank", "directory"]),
      milliseconds: optional(count),
      status: optional(count),
    }),
  ),
});

/** A trace as it is stored: with the clients that may read it. */
type StoredTrace = Pick<ReadableTrace, "trace" | "readers">;

export const traceRecord = defineRecord<{ readonly traces: readonly StoredTrace[] }>({
  name: "trace",
  keyParts: ["time (newest first) and random id"],
  what:
    "What the platform did with requests: their checks, rejections, calls to other parties, and who may read it. Ids only.",
  schema: z.looseObject({
    traces: z.array(z.looseObject({ trace, readers: z.array(z.looseObject({ clientId, isSender: flag })) })),
  }),
  version: 1,
  lifetime: "`PLATFORM_TRACE_DAYS`.",
  personalData: "pseudonymous",
  retention: "traces",
  restore: "kept",
});

/** Of one answer. */
export const MAX_LISTED = 50;
/** Of one reader in an answer for operators. */
const MAX_OF_READER = 25;
/** Readers in an answer for operators. */
const MAX_READERS = 20;
/** Of the traces in one row, which must be shorter than a value may be. The largest has 12,000 characters and JWTs of a sandbox. */
const MAX_BYTES = 40_000;
/** Rows that a look-up reads at once. */
const ROWS = 10;

export interface TraceStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long traces are kept, milliseconds. */
  readonly keepMs: number;
}

export function openTraceStore({ store, clock, keepMs }: TraceStoreDeps): TraceStore {
  const index = openTraceIndex({ store, clock, keepMs, most: MAX_LISTED });
  const isKept = ({ at }: Trace): boolean => clock() < at + keepMs;
  const read: Read = (entries, shown, most) =>
    tracesAt(store, entries, (stored) => isKept(stored.trace) ? shown(stored) : undefined, most);
  let last = 0;
  return {
    async write(traces) {
      const [writes, entries]: [Write[], string[]] = [[], []];
      for (const some of inRows(traces)) {
        last = Math.max(clock(), last + 1); // one after the other, also of one millisecond
        const place = placeAt(last);
        traceRecord.set({ writes }, traceKey(place), { traces: some }, last + keepMs);
        entries.push(...new Set(some.flatMap(beginningsOf).map((beginning) => `${beginning}${place}`)));
      }
      if (entries.length === 0) return;
      index.stage(writes, entries);
      await store.commit({ checks: [], writes });
    },
    byInteraction: (id, reader) => byInteraction(index, read, id.toLowerCase(), reader),
    async about(reader, subject) {
      const { entries } = await index.find(beginningOf("list", subject, reader));
      const shown: Shown = (stored) =>
        subjectsOf(stored.trace).includes(subject) ? shownTo(stored, reader) : undefined;
      const found = await read(entries, shown, MAX_LISTED);
      return found.map(({ trace }) => trace).toSorted(newestFirst).slice(0, MAX_LISTED);
    },
    merge: () => index.merge(),
  };
}

/** Reads what is shown of the traces that entries lead to, until there are so many. */
type Read = (entries: readonly string[], shown: Shown, most: number) => Promise<readonly StoredTrace[]>;

async function byInteraction(
  index: TraceIndex,
  read: Read,
  id: string,
  reader: string | undefined,
): Promise<FoundTraces> {
  const { entries, isComplete } = await index.find(beginningOf("interaction", id, reader));
  const most = reader === undefined ? MAX_OF_READER : MAX_LISTED;
  const readers = [...Map.groupBy(entries, aboutOf).values()];
  const newest = readers.slice(0, MAX_READERS).flatMap((some) => some.slice(0, most + 1));
  const shown: Shown = (stored) => stored.trace.interactionId === id ? shownTo(stored, reader) : undefined;
  const byReader = [...Map.groupBy(await read(newest, shown, Infinity), firstReader).values()];
  return {
    traces: byReader.flatMap((some) => some.slice(0, most)).map(({ trace }) => trace).toSorted(newestFirst),
    isComplete: isComplete && readers.length <= MAX_READERS && byReader.every((some) => some.length <= most),
  };
}

/** Divides traces into rows. */
function inRows(traces: readonly ReadableTrace[]): readonly (readonly StoredTrace[])[] {
  const rows: StoredTrace[][] = [];
  let bytes = Infinity;
  for (const { trace, readers } of traces) {
    const stored = { trace, readers };
    const json = JSON.stringify(stored);
    const length = json.length * (/[\u0100-\uffff]/.test(json) ? 2 : 1); // Deno KV stores such a text as UTF-16
    if (bytes + length > MAX_BYTES) [bytes] = [0, rows.push([])];
    bytes += length;
    rows.at(-1)?.push(stored);
  }
  return rows;
}

/** Returns what entries of the index begin with that lead to a trace. */
function beginningsOf({ trace, readers }: StoredTrace): readonly string[] {
  const interaction = termOf("interaction", trace.interactionId);
  if (readers.length === 0) return [interaction + readerOf(NO_CLIENT)];
  const terms = [interaction, ...subjectsOf(trace).map((subject) => termOf("list", subject))];
  return readers.flatMap(({ clientId }) => {
    const reader = readerOf(clientId);
    return terms.map((term) => term + reader);
  });
}

/** Returns the trace as a reader sees it, if at all; without a reader, as operators see it. */
type Shown = (stored: StoredTrace) => StoredTrace | undefined;

function shownTo(stored: StoredTrace, reader: string | undefined): StoredTrace | undefined {
  const { readers } = stored;
  const own = reader === undefined ? readers : readers.filter(({ clientId }) => clientId === reader);
  if (own.length === 0) return reader === undefined || reader === NO_CLIENT ? stored : undefined;
  return own.some(({ isSender }) => isSender) ? stored : { ...stored, trace: asBystander(stored.trace) };
}

/** Returns the traces in the rows of entries that are shown, the newest rows first, until there are so many. */
async function tracesAt(
  store: Store,
  entries: readonly string[],
  shown: Shown,
  most: number,
): Promise<readonly StoredTrace[]> {
  const places = [...new Set(entries.map(placeIn))].toSorted();
  const found: StoredTrace[] = [];
  for (let start = 0; start < places.length && found.length < most; start += ROWS) {
    const rows = await store.getMany(places.slice(start, start + ROWS).map(traceKey));
    for (const row of rows) {
      if (row === null) continue;
      found.push(
        ...traceRecord.decode(row).value.traces.toReversed().flatMap((stored) => shown(stored) ?? []),
      );
    }
  }
  return found;
}

const firstReader = ({ readers: [first] }: StoredTrace): string => first?.clientId ?? NO_CLIENT;
const newestFirst = (one: Trace, other: Trace): number => other.at - one.at;

function subjectsOf({ consentId, paymentId, rejection }: Trace): readonly string[] {
  const subjects = [consentId, paymentId, rejection === undefined ? undefined : REJECTED];
  return [...new Set(subjects.filter((subject) => subject !== undefined))];
}

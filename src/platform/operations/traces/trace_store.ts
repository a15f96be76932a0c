/**
 * Stores traces for a number of days, once for each reader, so that no reader can list the traces of another one. An
 * interaction id is chosen by the caller, so requests of several parties may have the same one.
 */
import { z } from "zod";
import { count, defineRecord, instant, optional, text, texts } from "../../../base/store/record.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { firstOfGroups } from "../../../base/store/first_of_groups.ts";
import type { Key, Store, Write } from "../../../base/store/store.ts";
import { newestFirstPart, traceKey, traceOfKey } from "../../config/store_keys.ts";
import { asBystander, type ReadableTrace, type Trace } from "./trace.ts";

/** The reader of traces whose client is not proven. No client has this id. */
const NO_CLIENT = "unknown";
/** The subject of a list of rejected requests. No consent or payment has this id. */
export const REJECTED = "rejected";

export interface TraceStore {
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

export const traceRecord = defineRecord<Trace>({
  name: "trace",
  keyParts: ["interaction id", "client id of the reader", "time (newest first) and id"],
  what:
    "What the platform did with a request: its checks, its rejection, its calls to other parties. Ids only.",
  schema: z.looseObject({
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
  }),
  version: 1,
  lifetime: "`PLATFORM_TRACE_DAYS`.",
  personalData: "pseudonymous",
  retention: "traces",
  restore: "kept",
});

/** Where a trace is: the other parts of its key. */
interface TracePlace {
  readonly interactionId: string;
  readonly place: string;
}

export const traceOfRecord = defineRecord<{ readonly traces: readonly TracePlace[] }>({
  name: "trace_of",
  keyParts: [
    "client id of the reader",
    "consent id, payment id or `rejected`",
    "time (newest first) and id of the newest",
  ],
  what: "Interaction ids and places of traces that were stored together, by what they are about.",
  schema: z.looseObject({ traces: z.array(z.looseObject({ interactionId: text, place: text })) }),
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
const MAX_TURN = 999_999;

export interface TraceStoreDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long traces are kept, milliseconds. */
  readonly keepMs: number;
}

export function openTraceStore({ store, clock, keepMs }: TraceStoreDeps): TraceStore {
  const isKept = ({ at }: Trace): boolean => clock() < at + keepMs;
  let turn = MAX_TURN;
  const placeAt = (at: number): string => {
    turn = turn === 0 ? MAX_TURN : turn - 1; // of one millisecond, the later answer comes first
    return `${newestFirstPart(at)}-${String(turn).padStart(6, "0")}-${crypto.randomUUID()}`;
  };
  return {
    async write(traces) {
      const writes: Write[] = [];
      const about = traces.flatMap((trace) => stage(writes, trace, placeAt(trace.trace.at), keepMs));
      for (const some of Map.groupBy(about, ({ key }) => key.join("\0")).values()) stageList(writes, some);
      if (writes.length > 0) await store.commit({ checks: [], writes });
    },
    async byInteraction(interactionId, reader) {
      const { entries, isComplete } = await firstOfGroups(store, {
        prefix: traceKey(interactionId.toLowerCase(), reader),
        parts: reader === undefined ? 1 : 0,
        perGroup: reader === undefined ? MAX_OF_READER : MAX_LISTED,
        maxGroups: MAX_READERS,
      });
      const traces = unique(entries.map(traceRecord.decode)).map(({ value }) => value).filter(isKept)
        .toSorted((one, other) => other.at - one.at);
      return { traces, isComplete };
    },
    async about(reader, subject) {
      const listed = (await store.list({ prefix: traceOfKey(reader, subject), limit: MAX_LISTED }))
        .map(traceOfRecord.decode);
      const places = listed.flatMap(({ value }) => value.traces).toSorted(newestFirst).slice(0, MAX_LISTED);
      const keys = places.map(({ interactionId, place }) => traceKey(interactionId, reader, place));
      const found = keys.length === 0 ? [] : await store.getMany(keys);
      return found.flatMap((entry) => entry === null ? [] : [traceRecord.decode(entry).value]).filter(isKept);
    },
  };
}

/** A trace, for the list of what it is about. */
interface About extends TracePlace {
  /** Of the list. */
  readonly key: Key;
  readonly expiresAt: number;
}

/** @returns what the trace is about */
function stage(
  writes: Write[],
  { trace, readers }: ReadableTrace,
  place: string,
  keepMs: number,
): readonly About[] {
  const { interactionId } = trace;
  const expiresAt = trace.at + keepMs;
  const all = readers.length === 0 ? [{ clientId: NO_CLIENT, isSender: true }] : readers;
  return all.flatMap(({ clientId, isSender }) => {
    const shown = isSender ? trace : asBystander(trace);
    traceRecord.set({ writes }, traceKey(interactionId, clientId, place), shown, expiresAt);
    const subjects = clientId === NO_CLIENT ? [] : subjectsOf(shown);
    return subjects.map((subject) => ({
      key: traceOfKey(clientId, subject),
      interactionId,
      place,
      expiresAt,
    }));
  });
}

/** Stages one row for traces that are about the same. */
function stageList(writes: Write[], about: readonly About[]): void {
  const [newest, ...others] = about.toSorted(newestFirst);
  if (newest === undefined) return;
  const traces = [newest, ...others].map(({ interactionId, place }) => ({ interactionId, place }));
  traceOfRecord.set({ writes }, [...newest.key, newest.place], { traces }, newest.expiresAt);
}

function newestFirst(one: TracePlace, other: TracePlace): number {
  return one.place < other.place ? -1 : 1;
}

function subjectsOf({ consentId, paymentId, rejection }: Trace): readonly string[] {
  const subjects = [consentId, paymentId, rejection === undefined ? undefined : REJECTED];
  return [...new Set(subjects.filter((subject) => subject !== undefined))];
}

/** Returns each trace once, as its sender sees it. */
function unique<T extends { readonly key: Key; readonly value: Trace }>(entries: readonly T[]): readonly T[] {
  const byPlace = new Map<string, T>();
  for (const entry of entries) {
    const place = placeOf(entry.key);
    const former = byPlace.get(place);
    if (former === undefined || !isFull(former.value)) byPlace.set(place, entry);
  }
  return [...byPlace.values()];
}

/** Whether it says what was wrong, which {@link asBystander} leaves out. */
function isFull({ rejection }: Trace): boolean {
  return [rejection?.told, rejection?.detail, rejection?.faults].some((said) => said !== undefined);
}

function placeOf(key: Key): string {
  return key.at(-1) ?? "";
}

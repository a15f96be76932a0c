/** The processes of the platform. Each notes its state in the store, so that operators see every process of the platform (contract OP18). */
import type { Clock, SteadyClock, WallTime } from "../../base/kernel/clock.ts";
import type { Readiness } from "../../base/observability/health.ts";
import type { Key, Store, Write } from "../../base/store/store.ts";
import { addFigures, noFigures } from "../observed/figures/figures.ts";
import type { FiguresRecorder, MinuteFigures } from "../observed/figures/recorder.ts";
import type { AdmissionState } from "../guards/http/admission.ts";
import { z } from "zod";
import { storedSums } from "../observed/figures/figures_store.ts";
import { count, defineRecord, flag, instant, optional, text } from "../../base/store/record.ts";

/** A part of a process or of what it needs, such as `store`. */
interface ProcessPart {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
}

/** The state of a process. Times are milliseconds. */
export interface ProcessState {
  /** Of this start. */
  readonly id: string;
  readonly name: string;
  /** The part that it serves; absent if it serves all. */
  readonly served?: string;
  readonly startedAt: WallTime;
  readonly notedAt: WallTime;
  readonly parts: readonly ProcessPart[];
  /** Requests in work at that time. */
  readonly inWork: number;
  /** The key that signs for the platform in this process. */
  readonly signingKid: string;
  /** What it counted in each of the last 60 minutes. The last one has the reasons of all. */
  readonly minutes: readonly MinuteFigures[];
}

const KEPT_MS = 15 * 60_000;
/** Also of a process that starts again each second. */
const MAX_PROCESSES = 2000;

const processKey = (id: string): Key => ["process", id];

export const processRecord = defineRecord<ProcessState>({
  name: "process",
  keyParts: ["id of the start of a process"],
  what: "The state of a process of the platform, as it has noted it itself.",
  schema: z.looseObject({
    id: text,
    name: text,
    served: optional(text),
    startedAt: instant,
    notedAt: instant,
    parts: z.array(z.looseObject({ name: text, ok: flag, detail: optional(text) })),
    inWork: count,
    signingKid: text,
    minutes: z.array(z.looseObject({ minute: count, ...storedSums })) as z.ZodType<MinuteFigures[]>,
  }),
  version: 1,
  lifetime: "15 minutes after its last note.",
  personalData: "none",
  retention: "system",
  restore: "kept",
});

/** Returns the states that were noted in the last 15 minutes, by name. */
export async function listProcesses(store: Store, now: WallTime): Promise<readonly ProcessState[]> {
  const found = await processRecord.list(store, { limit: MAX_PROCESSES });
  return found.map(({ value }) => value)
    .filter(({ notedAt }) => notedAt + KEPT_MS > now)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.startedAt - b.startedAt);
}

/** Of {@link listProcesses}, those that no later start of the same name has replaced. */
export async function listCurrentProcesses(store: Store, now: WallTime): Promise<readonly ProcessState[]> {
  const states = await listProcesses(store, now);
  return states.filter(({ name, notedAt }) =>
    !states.some((other) => other.name === name && other.startedAt > notedAt)
  );
}

/** How the process is known to operators. */
export interface ProcessIdentity {
  readonly name: string;
  /** The part that it serves; absent if it serves all. */
  readonly served?: string;
}

export interface NoteProcessDeps {
  readonly store: Store;
  readonly identity: ProcessIdentity;
  readonly clock: Clock;
  /** Never goes back. */
  readonly steady: SteadyClock;
  readonly readiness: () => Promise<Readiness>;
  readonly lanes: () => AdmissionState;
  /** The key that signs for the platform now. */
  readonly signingKid: () => string;
  readonly figures: Pick<FiguresRecorder, "lastHour" | "write">;
}

export interface ProcessNote {
  /** Notes the state and stores the figures every 10 s, and between that does not touch the store. Returns 0. @throws {StoreFailure} */
  note(): Promise<number>;
  /** Deletes the note, when the process stops. @throws {StoreFailure} */
  forget(): Promise<void>;
}

/** Milliseconds. */
const EVERY_MS = 10_000;

/** Opens the note of a process that starts now. */
export function openProcessNote(
  { store, identity, clock, steady, readiness, lanes, signingKid, figures }: NoteProcessDeps,
): ProcessNote {
  const start = { id: crypto.randomUUID(), ...identity, startedAt: clock() };
  let nextAt = -Infinity;
  const state = async (): Promise<ProcessState> => {
    const { parts } = await readiness();
    return {
      ...start,
      notedAt: clock(),
      parts: Object.entries(parts).map(([name, health]) => ({ name, ...health })),
      inWork: Object.values(lanes()).reduce((sum, { inWork }) => sum + inWork, 0),
      signingKid: signingKid(),
      minutes: withReasonsOnce(figures.lastHour()),
    };
  };
  return {
    async note() {
      if (steady() < nextAt) return 0;
      nextAt = steady() + EVERY_MS;
      await figures.write(); // so that the sums of the day have what the last hour has
      const noted = await state();
      const writes: Write[] = [];
      processRecord.set({ writes }, processKey(noted.id), noted, noted.notedAt + KEPT_MS);
      await store.commit({ checks: [], writes });
      return 0;
    },
    async forget() {
      await store.commit({ checks: [], writes: [{ kind: "delete", key: processKey(start.id) }] });
    },
  };
}

/**
 * Returns the minutes with the reasons of all of them in the last one: many reasons in each minute would make the note too
 * large for a record, and only their sums are shown.
 */
function withReasonsOnce(minutes: readonly MinuteFigures[]): readonly MinuteFigures[] {
  const sum = noFigures();
  for (const { reasons } of minutes) addFigures(sum, { ...noFigures(), reasons });
  return minutes.map((one, place) => ({
    ...one,
    reasons: place === minutes.length - 1 ? sum.reasons : {},
  }));
}

/** Stores the state of each process of the platform, as the process itself has noted it. */
import type { WallTime } from "../../base/kernel/clock.ts";
import { z } from "zod";
import { storedSums } from "../observed/figures/figures_store.ts";
import type { MinuteFigures } from "../observed/figures/recorder.ts";
import { count, defineRecord, flag, instant, optional, text } from "../../base/store/record.ts";
import type { Key, Store, Write } from "../../base/store/store.ts";

/** A part of a process or of what it needs, such as `store`. */
export interface ProcessPart {
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

/** Overwrites the state of this process. @throws {StoreFailure} */
export async function noteProcess(store: Store, state: ProcessState): Promise<void> {
  const writes: Write[] = [];
  processRecord.set({ writes }, processKey(state.id), state, state.notedAt + KEPT_MS);
  await store.commit({ checks: [], writes });
}

/** Deletes the state of a process that has stopped. @throws {StoreFailure} */
export async function forgetProcess(store: Store, id: string): Promise<void> {
  await store.commit({ checks: [], writes: [{ kind: "delete", key: processKey(id) }] });
}

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

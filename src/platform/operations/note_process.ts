/** Notes the state of this process in the store, so that operators see every process of the platform (contract OP18). */
import type { Clock, SteadyClock } from "../../base/kernel/clock.ts";
import type { Readiness } from "../../base/observability/health.ts";
import type { Store } from "../../base/store/store.ts";
import { addFigures, noFigures } from "../observed/figures/figures.ts";
import type { FiguresRecorder, MinuteFigures } from "../observed/figures/recorder.ts";
import type { AdmissionState } from "../guards/http/admission.ts";
import { forgetProcess, noteProcess, type ProcessState } from "./process_store.ts";

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
      await noteProcess(store, await state());
      return 0;
    },
    forget: () => forgetProcess(store, start.id),
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

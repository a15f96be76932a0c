/** A process's connection to the database: operations take time, fail, or happen without an answer. */
import {
  type Commit,
  type Key,
  type Listing,
  type Store,
  StoreFailure,
} from "../../../src/base/store/store.ts";
import type { Database } from "./database.ts";
import type { Simulation } from "./simulation.ts";
import { INJECTED } from "./plan.ts";
import type { PlatformProcess } from "./platform_process.ts";

/** The fate of an operation. */
type Fate = "done" | "failed" | "unanswered";

/** Opens it. Of a dead process, only a commit that was on its way comes through. */
export function connectStore(
  simulation: Simulation,
  process: PlatformProcess,
  database: Database = simulation.database,
): Store {
  const random = simulation.random(
    `${database === simulation.database ? "" : "data key "}store of process ${process.number}`,
  );
  const latency = (): number => {
    const slow = simulation.fault("store")?.slow ?? 0;
    return random.below(1000) < slow ? random.below(8000) : random.below(4);
  };
  const fateOf = (isCommit: boolean): Fate => {
    const fault = simulation.fault("store");
    if (fault === undefined) return "done";
    const drawn = random.below(1000);
    if (drawn < fault.failed) return "failed";
    return isCommit && drawn < fault.failed + fault.unanswered ? "unanswered" : "done";
  };
  /** A read takes place at once and is told later, so that it can be out of date; a commit takes its time to arrive. */
  function operation<T>(act: () => T, isCommit = false): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!process.isAlive()) return;
      if (isCommit) simulation.scheduler.after(latency(), arrive);
      else arrive();
      function arrive(): void {
        if (!process.isAlive() && !random.chance(0.5)) return;
        const fate = fateOf(isCommit);
        const result = fate === "failed" ? undefined : act();
        simulation.scheduler.after(latency(), () => {
          if (!process.isAlive()) return;
          if (fate === "done") resolve(result as T);
          else {reject(
              new StoreFailure(
                `${INJECTED}: the operation ${fate === "failed" ? "failed" : "has no answer"}`,
              ),
            );}
        });
      }
    });
  }
  return {
    get: <T>(key: Key) => operation(() => database.get<T>(key)),
    getMany: <T>(keys: readonly Key[]) => operation(() => keys.map((key) => database.get<T>(key))),
    list: <T>(listing: Listing) => operation(() => database.list<T>(listing)),
    commit: (commit: Commit) => operation(() => committed(simulation, process, database, commit), true),
    close: () => Promise.resolve(),
  };
}

function committed(
  simulation: Simulation,
  process: PlatformProcess,
  database: Database,
  commit: Commit,
): boolean {
  const happened = database.commit(commit);
  const kinds = new Set(commit.writes.map(({ key }) => key[0]));
  if (happened && kinds.has("outbox")) { for (const run of simulation.onOrder) run(); }
  const isWaiting = kinds.has("event") && !kinds.has("event_finished");
  if (happened && (isWaiting || kinds.has("event_subscription"))) {
    for (const run of simulation.onEvent) run();
  }
  simulation.note(
    `process ${process.number} commits ${[...kinds].join(" ")}: ${happened ? "done" : "conflict"}`,
  );
  return happened;
}

/** Processes of the platform: composed as in production, killed at any event, started again on what was committed. */
import { soleCredential } from "../../../src/base/http/credentials.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { ROLES } from "../../../src/platform/guards/security/operator_roles.ts";
import { composePlatform, type Platform } from "../../../src/platform/process/compose.ts";
import { openSealed } from "../../../src/platform/evidence/data_keys/sealed_store.ts";
import { openWrappingKeys } from "../../../src/platform/evidence/data_keys/wrapping_keys.ts";
import { pushEvents } from "./passes.ts";
import { outgoingFetch, type Outside } from "./outgoing.ts";
import { CONFIG, OPERATOR_TOKEN, WRAPPING_KEY } from "./parties.ts";
import { INJECTED } from "./plan.ts";
import { connectStore } from "./platform_store.ts";
import type { Simulation } from "./simulation.ts";
import type { Cluster, PlatformProcess } from "./platform_process.ts";

/** A run has few consents, and one that has more needs another commit. */
const KEYS_AT_ONCE = 4;
/** Every so many seeds the platform keeps traces, which no party reads. */
const TRACED = 4;

/** Starts one process, or two. */
export function startCluster(simulation: Simulation, outside: Outside): Cluster {
  const offsets = [0, 0];
  const count = simulation.fault("second process") === undefined ? 1 : 2;
  const random = simulation.random("cluster");
  const running: PlatformProcess[] = [];
  let started = 0;
  function start(slot: number): void {
    if (running[slot]?.isAlive()) return; // started again already
    const process = openProcess(simulation, started++, () => offsets[slot] ?? 0);
    running[slot] = process;
    simulation.note(`process ${process.number} starts`);
    run(simulation, process, outside, () => {
      process.kill();
      simulation.scheduler.after(1000, () => start(slot));
    });
  }
  for (let slot = 0; slot < count; slot++) start(slot);
  return {
    pick() {
      const ready = running.filter((process) => process.isAlive() && process.platform() !== undefined);
      return ready[random.below(Math.max(1, ready.length))];
    },
    killOne(downFor) {
      const slot = random.below(count);
      const process = running[slot];
      if (process === undefined || !process.isAlive()) return;
      simulation.note(`process ${process.number} is killed`);
      process.kill();
      simulation.scheduler.after(downFor, () => start(slot));
    },
    restartAll(meanwhile) {
      running.forEach((process) => process.kill());
      meanwhile();
      running.forEach((_, slot) => start(slot));
    },
    stepClock: (number, by) => void (offsets[number % count] = (offsets[number % count] ?? 0) + by),
  };
}

interface OwnProcess extends PlatformProcess {
  started?: Platform;
}

function openProcess(simulation: Simulation, number: number, offset: () => number): OwnProcess {
  const dying = new Set<() => void>();
  let alive = true;
  const process: OwnProcess = {
    number,
    isAlive: () => alive,
    platform: () => process.started,
    onDeath(run) {
      dying.add(run);
      return () => void dying.delete(run);
    },
    kill() {
      alive = false;
      for (const run of dying) run();
      void process.started?.stop(); // its store answers no more; only its timers are left
    },
    clock: () => Math.floor(simulation.scheduler.now() + offset()),
  };
  return process;
}

/** Composes the platform and runs its background work; a start that fails is tried again, as a supervisor would. */
async function run(
  simulation: Simulation,
  process: OwnProcess,
  outside: Outside,
  restart: () => void,
): Promise<void> {
  const { clock } = process;
  try {
    const monotonic = (): number => Math.floor(simulation.scheduler.now());
    const { store, caseKeys } = await openSealed({
      store: connectStore(simulation, process),
      vault: connectStore(simulation, process, simulation.dataKeys),
      wrapping: await openWrappingKeys(WRAPPING_KEY),
      monotonic,
      keysAtOnce: KEYS_AT_ONCE,
    });
    const platform = await composePlatform({
      config: simulation.plan.seed % TRACED === 0 ? CONFIG : { ...CONFIG, traceDays: 0 },
      store,
      clock,
      monotonic,
      fetch: outgoingFetch(simulation, process, outside),
      log(line) {
        if (!process.isAlive()) return;
        simulation.watch.logged(line);
      },
      keys: await openKeyRing(CONFIG.keys, clock),
      caseKeys,
      operators: soleCredential("operator", OPERATOR_TOKEN, ROLES),
    });
    process.started = platform;
    if (!process.isAlive()) return;
    platform.startWork();
    void pushEvents(simulation, process, platform);
  } catch (error) {
    // Of two processes that find a restored store at once, one gives up its start: the next one finds the epoch begun.
    const lostRace = simulation.wasRestored &&
      /start again|store changed during the restore/.test(String(error));
    if (!lostRace && !String(error).includes(INJECTED)) {
      simulation.violated("no unexpected error", `the start failed: ${error}`);
    }
    restart();
  }
}

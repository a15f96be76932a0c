/** Runs seeds one after the other, from a database in which every participant has registered, and keeps count. */
import { installGlobals, useRuntime } from "./globals.ts";
import { type Plan, planRun, without } from "./plan.ts";
import { runPlan, type RunResult } from "./run.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { composePlatform } from "../../../src/platform/process/compose.ts";
import { seeded } from "../prove/random.ts";
import { directStore, openDatabase, type Snapshot } from "./database.ts";
import { directoryAnswer } from "./directory.ts";
import { API, CONFIG, PARTIES, PROXY_SECRET, registrationOf, START } from "./parties.ts";
import { openScheduler } from "./scheduler.ts";

/** A failing run of which every part is needed. */
interface Shrunk {
  readonly dropped: readonly string[];
  readonly plan: Plan;
  readonly result: RunResult;
}

/** Shrinks the run of a seed that breaks `check`. `run` repeats a plan with its trace. */
async function shrink(seed: number, check: string, run: (plan: Plan) => Promise<RunResult>): Promise<Shrunk> {
  const whole = planRun(seed);
  const dropped = new Set<string>();
  let result = await run(whole);
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const { name } of [...whole.faults, ...whole.payments].filter((part) => !dropped.has(part.name))) {
      const tried = await run(without(whole, new Set([...dropped, name])));
      if (!tried.violations.some((violation) => violation.check === check)) continue;
      dropped.add(name);
      result = tried;
      isSmaller = true;
    }
  }
  return { dropped: [...dropped], plan: without(whole, dropped), result };
}

/** The result of many runs. */
export interface Tally {
  seeds: number;
  steps: number;
  /** Simulated milliseconds. */
  passed: number;
  /** Real milliseconds. */
  took: number;
}

/** A seed that does not hold. */
export interface Failure extends Shrunk {
  readonly seed: number;
  readonly check: string;
}

const realNow = performance.now.bind(performance);

/** Runs simulations in this process, which they have to themselves until `use` has ended. */
export async function withSimulation<T>(
  use: (run: (plan: Plan, isTraced?: boolean) => Promise<RunResult>) => Promise<T>,
): Promise<T> {
  using _globals = installGlobals();
  const base = await prepareBase();
  return await use((plan, isTraced) => runPlan(plan, base, isTraced));
}

/**
 * Runs seeds until one fails, none is left, or the time is over.
 *
 * @param seconds no run begins after this time
 * @param onSeed gets the tally after each run
 */
export async function runSeeds(
  seeds: Iterable<number>,
  seconds = Infinity,
  onSeed: (tally: Tally) => void = () => {},
): Promise<{ readonly tally: Tally; readonly failure?: Failure }> {
  return await withSimulation(async (run) => {
    const tally: Tally = { seeds: 0, steps: 0, passed: 0, took: 0 };
    const startedAt = realNow();
    for (const seed of seeds) {
      const { violations: [violation], steps, passed } = await run(planRun(seed));
      tally.seeds++;
      tally.steps += steps;
      tally.passed += passed;
      tally.took = realNow() - startedAt;
      onSeed(tally);
      if (violation !== undefined) {
        const { check } = violation;
        return { tally, failure: { seed, check, ...await shrink(seed, check, (plan) => run(plan, true)) } };
      }
      if (tally.took > seconds * 1000) break;
    }
    return { tally };
  });
}

/** Registers everybody; the globals must be installed. */
async function prepareBase(): Promise<Snapshot> {
  useRuntime({
    scheduler: openScheduler(START),
    random: seeded(0, "base"),
    nextPass: () => () => {},
    uncaught: (reason) => {
      throw reason;
    },
  });
  const database = openDatabase();
  const clock = (): number => START;
  const fetchDirectory = (input: string | URL | Request): Promise<Response> => {
    const { status, body, headers } = directoryAnswer(new URL(String(input)).pathname, START, null);
    return Promise.resolve(new Response(body, { status, headers: headers ?? {} }));
  };
  const { api } = await composePlatform({
    config: CONFIG,
    store: directStore(database),
    clock,
    monotonic: clock,
    fetch: fetchDirectory as typeof fetch,
    log: () => {},
    keys: await openKeyRing(CONFIG.keys, clock),
  });
  for (const who of PARTIES) {
    const response = await api.fetch(
      new Request(`${API}/register/v1`, {
        method: "POST",
        body: registrationOf(who, START),
        headers: {
          "content-type": "application/jose",
          "x-proxy-secret": PROXY_SECRET,
          "client-cert": `:${who.transport.certificate}:`,
        },
      }),
    );
    if (response.status !== 201) {
      throw new Error(`registration of ${who.name}: ${response.status} ${await response.text()}`);
    }
  }
  return database.snapshot();
}

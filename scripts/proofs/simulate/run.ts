/** One run from its plan: the platform and its parties until everybody has come to an end, then everybody's books. */
import { judge } from "../prove/checks.ts";
import { openBank, type SimulatedBank } from "./bank.ts";
import type { Line } from "./calls.ts";
import { directStore, type Snapshot } from "./database.ts";
import { directoryAnswer } from "./directory.ts";
import { evidenceFaults, type Fact, gatherEvidence, logFaults } from "./evidence.ts";
import { compareFunnel } from "../../testing/funnel_oracle.ts";
import { useRuntime } from "./globals.ts";
import { redriveOrders } from "./operator.ts";
import type { Incoming, Outgoing } from "./outgoing.ts";
import { BANKS, DIRECTORY, TPPS } from "./parties.ts";
import { nextPass } from "./passes.ts";
import type { Plan } from "./plan.ts";
import { eventsToPush, judgeEvents, receive, redriveDead } from "./receiver.ts";
import { compareAfterRestore, type Copy, restore } from "./restore.ts";
import { startCluster } from "./cluster.ts";
import { CLOCK_FAULT_MS, openSimulation, type Simulation, type Violation } from "./simulation.ts";
import { makePayment } from "./tpp.ts";
import { logWaitingRecord } from "../../../src/base/store/base_records.ts";
import { consentRecord } from "../../../src/platform/core/consents/consent_store.ts";
import { keyOfListed } from "../../../src/platform/guards/lists/lookup_store.ts";
import { paymentRecord } from "../../../src/platform/core/payments/payment_store.ts";

const ALL = 100_000;

/** Returns each entry that a list lacks, or has without its consent or payment. */
function listFaults({ simulation: { database } }: Line): readonly string[] {
  const consents = database.list({ prefix: [consentRecord.name], limit: ALL }).map(consentRecord.decode)
    .filter(({ value }) => value.personalData.state !== "erased").map(({ value }) =>
      keyOfListed("consent", value)
    );
  const payments = database.list({ prefix: [paymentRecord.name], limit: ALL }).map(paymentRecord.decode)
    .filter(({ value }) => value.personalData.state !== "erased").map(({ value }) =>
      keyOfListed("payment", value)
    );
  const expected = new Set([...consents, ...payments].map((key) => key.join(" ")));
  const found = new Set(database.list({ prefix: ["listed"], limit: ALL }).map(({ key }) => key.join(" ")));
  return [
    ...[...expected.difference(found)].map((key) => `not listed: ${key}`),
    ...[...found.difference(expected)].map((key) => `listed and not there: ${key}`),
  ];
}

/** The result of a run. */
export interface RunResult {
  readonly violations: readonly Violation[];
  /** Of everything that happened: equal for equal plans. */
  readonly hash: string;
  readonly steps: number;
  /** Simulated milliseconds. */
  readonly passed: number;
  readonly trace: readonly string[];
}

type Banks = Readonly<Record<string, SimulatedBank>>;

/** Every so many seeds, because all of it is deciphered. */
const EVIDENCE_READ = 4;
const MAX_STEPS = 30_000;
const SETTLE_SECONDS = 4000;

/**
 * Runs a plan.
 *
 * @param base the database to begin with: the participants are registered
 */
export async function runPlan(plan: Plan, base: Snapshot, isTraced = false): Promise<RunResult> {
  const simulation = openSimulation(plan, isTraced);
  const { scheduler } = simulation;
  useRuntime({
    scheduler,
    random: simulation.random("runtime"),
    uncaught: (reason) => simulation.violated("nothing is left uncaught", textOf(reason)),
    nextPass: (pass) => nextPass(simulation, pass),
  });
  simulation.database.restore(base);
  const banks: Record<string, SimulatedBank> = {};
  const cluster = startCluster(simulation, (request) => outside(simulation, banks, request));
  const line: Line = { simulation, cluster };
  for (const code of Object.keys(BANKS)) banks[code] = openBank(line, code);
  const state = { isDone: false };
  const copies: Copy[] = [];
  void direct(line, banks, copies)
    .catch((error: Error) => simulation.violated("no unexpected answer", error.stack ?? error.message))
    .finally(() => void (state.isDone = true));
  planFaults(line);
  const kills = plan.faults.filter((fault) => fault.kind === "kill").sort((a, b) => a.step - b.step);
  await scheduler.run(() => {
    const [kill] = kills;
    if (kill !== undefined && scheduler.steps() >= kill.step && !simulation.isHealed()) {
      kills.shift();
      cluster.killOne(kill.downFor);
    }
    if (copies.length === 0 && scheduler.steps() >= (simulation.fault("restore")?.copyStep ?? Infinity)) {
      copies.push({ snapshot: simulation.database.snapshot(), takenAt: scheduler.now() });
    }
    return state.isDone || simulation.violations.length > 0;
  }, MAX_STEPS);
  if (!state.isDone && simulation.violations.length === 0) {
    simulation.violated("every run ends", `${scheduler.steps()} steps were not enough`);
  }
  const { violations, trace } = simulation;
  return {
    violations,
    trace,
    hash: simulation.hash(),
    steps: scheduler.steps(),
    passed: simulation.passed(),
  };
}

function planFaults({ simulation, cluster }: Line): void {
  for (const fault of simulation.plan.faults) {
    if (fault.kind !== "clock") continue;
    simulation.scheduler.after(fault.after, () => cluster.stepClock(fault.process, fault.by));
    simulation.scheduler.after(
      fault.after + CLOCK_FAULT_MS,
      () => cluster.stepClock(fault.process, -fault.by),
    );
  }
}

/** Servers that the platform calls. */
function outside(simulation: Simulation, banks: Banks, request: Incoming): Promise<Outgoing | undefined> {
  if (request.url.origin === DIRECTORY) {
    const away = simulation.fault("directory away");
    const passed = simulation.passed();
    const isAway = away !== undefined && passed >= away.after && passed < away.after + away.for;
    return Promise.resolve(
      isAway ? undefined : directoryAnswer(
        request.url.pathname,
        simulation.scheduler.now(),
        request.headers.get("if-none-match"),
      ),
    );
  }
  if (TPPS.some(({ eventNotificationUri }) => eventNotificationUri === request.url.href)) {
    return receive(simulation, request);
  }
  const bank = Object.values(banks).find(({ party }) => party.paymentOrdersUri === request.url.href);
  return bank === undefined ? Promise.resolve(undefined) : bank.receive(request);
}

/** All parties act, then faults end, then the books are compared. */
async function direct(line: Line, banks: Banks, copies: readonly Copy[]): Promise<void> {
  const { simulation } = line;
  const paying = simulation.plan.payments.map(async (
    plan,
  ): Promise<Fact> => [plan, await makePayment(line, plan)]);
  const facts = await Promise.all(paying);
  const restoring = simulation.fault("restore");
  const [copy] = copies;
  if (restoring !== undefined && copy !== undefined) await restore(line, copy, facts, restoring.reconciles);
  simulation.note("nothing goes wrong from here on");
  simulation.heal();
  await settle(line, banks);
  await placeEveryLeaf(line);
  await settle(line, banks); // the deadline of a consent may have passed meanwhile, with an event
  for (const fault of await logFaults(line)) {
    simulation.violated("the evidence log has every entry once", fault);
  }
  const isRead = simulation.plan.seed % EVIDENCE_READ === 0;
  for (const fault of isRead ? await evidenceFaults(line) : []) {
    simulation.violated("every entry has its evidence", fault);
  }
  for (const fault of listFaults(line)) {
    simulation.violated("the lists have every consent and payment once", fault);
  }
  const { database, scheduler } = simulation;
  for (const fault of (await compareFunnel(directStore(database), Math.floor(scheduler.now()))).faults) {
    simulation.violated("the funnel is equal to the histories", fault);
  }
  judgeEvents(simulation);
  if (!simulation.wasRestored) await compareBooks(line, facts, banks);
  else if (restoring?.reconciles) await compareAfterRestore(line, banks);
}

/** The checks of the prover. */
async function compareBooks(line: Line, facts: readonly Fact[], banks: Banks): Promise<void> {
  const { simulation } = line;
  const evidence = await gatherEvidence(line, facts, banks);
  const hadClockFault = simulation.plan.faults.some(({ kind }) => kind === "clock");
  for (const { name, violations } of judge(evidence)) {
    if (name === "every history is complete" && hadClockFault) continue; // entries are in the order of the clocks
    for (const violation of violations) simulation.violated(name, violation);
  }
}

/** Waits until no order and no event is on its way and every bank has reported. */
async function settle(line: Line, banks: Banks): Promise<void> {
  const { database, scheduler } = line.simulation;
  for (let waited = 0; waited < SETTLE_SECONDS; waited += 10) {
    const [waiting] = database.list({ prefix: ["outbox"], limit: 1 });
    const areBanksIdle = Object.values(banks).every((bank) => bank.isIdle());
    if (waiting === undefined && areBanksIdle && eventsToPush(database).length === 0) return;
    if (waiting !== undefined) await redriveOrders(line);
    await redriveDead(line);
    await scheduler.sleep(10_000);
  }
}

/** Grows the log, as any process does once a second, until no leaf waits for its place. */
async function placeEveryLeaf({ simulation: { database, scheduler }, cluster }: Line): Promise<void> {
  for (let waited = 0; waited < SETTLE_SECONDS; waited++) {
    if (database.list({ prefix: [logWaitingRecord.name], limit: 1 }).length === 0) return;
    await cluster.pick()?.platform()?.growLog();
    await scheduler.sleep(1000);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

/** What needs an operator now, from what the platform itself knows (contract OP31). */
import { type Alarm, type AlarmName, ALARMS } from "./alarm_representation.ts";
import { type BankState, type BankStateDeps, readBankStates } from "./bank_state.ts";
import { stateOfProcess } from "./process_routes.ts";
import { listCurrentProcesses, type ProcessState } from "./process_store.ts";

/** Seconds, as in the alert rules of the same names. */
const DELAYED_SECONDS = 300;
const HELD_SECONDS = 4 * 3600;

const CRITICAL: ReadonlySet<AlarmName> = new Set([
  "ProcessLost",
  "ProcessFails",
  "OrdersDead",
  "BankUnreconciled",
]);

/** Returns the alarms, critical ones first. @throws {StoreFailure} */
export async function readAlarms(deps: BankStateDeps): Promise<readonly Alarm[]> {
  const now = deps.clock();
  const [banks, processes] = await Promise.all([readBankStates(deps), listCurrentProcesses(deps.store, now)]);
  const samplesOf = deps.metrics.read();
  const all = [
    ...processes.flatMap((process) => alarmOfProcess(process, now)),
    ...banks.flatMap(alarmsOfBank),
    ...samplesOf("platform_payments_unsettled").flatMap(({ labels: { bank }, value }) =>
      value > 0 ? [alarm("PaymentsUnsettled", bank, value)] : []
    ),
    ...samplesOf("platform_disputes_overdue").flatMap(({ value }) =>
      value > 0 ? [alarm("DisputesOverdue", "", value)] : []
    ),
    ...samplesOf("platform_events").flatMap(({ labels: { client, state }, value }) =>
      state === "dead" && value > 0 ? [alarm("EventsDead", client, value)] : []
    ),
  ];
  return all.toSorted((one, other) => ALARMS.indexOf(one.Name) - ALARMS.indexOf(other.Name));
}

function alarm(name: AlarmName, of: string, value?: number): Alarm {
  return {
    Name: name,
    Severity: CRITICAL.has(name) ? "critical" : "warning",
    Of: of,
    ...(value === undefined ? {} : { Value: Math.floor(value) }),
  };
}

function alarmOfProcess(process: ProcessState, now: number): readonly Alarm[] {
  const state = stateOfProcess(process, now);
  return state === "works" ? [] : [alarm(state === "lost" ? "ProcessLost" : "ProcessFails", process.name)];
}

function alarmsOfBank(state: BankState): readonly Alarm[] {
  const { bank, orders, waitedSeconds, heldSeconds, unreconciledSeconds } = state;
  return [
    ...(orders.dead > 0 ? [alarm("OrdersDead", bank, orders.dead)] : []),
    ...(unreconciledSeconds > DELAYED_SECONDS ? [alarm("BankUnreconciled", bank, unreconciledSeconds)] : []),
    ...(state.state === "failing" ? [alarm("BankFailing", bank)] : []),
    ...(state.state === "slow" ? [alarm("BankSlow", bank)] : []),
    ...(waitedSeconds > DELAYED_SECONDS ? [alarm("OrdersDelayed", bank, waitedSeconds)] : []),
    ...(heldSeconds > HELD_SECONDS ? [alarm("OrdersHeld", bank, heldSeconds)] : []),
  ];
}

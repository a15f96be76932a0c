/** `GET /operations/alarms`: what needs an operator now, from what the platform itself knows (contract OP31). */
import { type BankState, type BankStateDeps, readBankStates } from "./bank_state_routes.ts";
import { stateOfProcess } from "./process_routes.ts";
import { listCurrentProcesses, type ProcessState } from "./process_store.ts";
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";

const ALARMS = [
  "ProcessLost",
  "ProcessFails",
  "OrdersDead",
  "BankUnreconciled",
  "BankFailing",
  "BankSlow",
  "OrdersDelayed",
  "OrdersHeld",
  "PaymentsUnsettled",
  "DisputesOverdue",
  "EventsDead",
] as const;
export type AlarmName = typeof ALARMS[number];

/** Schema of the alarms. */
export const alarmsSchema = dataSchema({
  Alarm: z.array(
    z.strictObject({
      Name: z.enum(ALARMS),
      Severity: z.enum(["critical", "warning"]),
      Of: z.string().openapi({
        description: "The bank's code, the client id or the name of the process. Empty for disputes.",
      }),
      Value: z.int().optional().openapi({
        description:
          "Orders, payments, disputes, events, or seconds of `OrdersDelayed`, `OrdersHeld` and `BankUnreconciled`.",
      }),
    }).openapi("Alarm"),
  ),
});
export type Alarm = z.infer<typeof alarmsSchema>["Data"]["Alarm"][number];

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

const route = operationRoute({
  method: "get",
  path: "/operations/alarms",
  tags: ["State"],
  operationId: "listAlarms",
  summary: "What needs an operator now",
  description:
    "What the platform itself knows. Its alert rules for Prometheus know more, such as a process that is gone.",
  answers: { 200: operationAnswer("Alarms, critical ones first", alarmsSchema) },
});

export function alarmRoutes(deps: BankStateDeps): readonly PlatformEndpoint[] {
  return [operation(route, [], async (c) => c.json({ Data: { Alarm: await readAlarms(deps) } }))];
}

/** `GET /operations/banks`: the state of each bank, by its orders and its last pushes (contract OP30). */
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import type { BankClient } from "../core/registration/client.ts";
import {
  judge,
  type LastPush,
  type LastPushes,
  medianOf,
  pushesTo,
  type PushState,
} from "../observed/figures/last_pushes.ts";
import type { PlatformMetrics, ReadPlatformSamples } from "../observed/metrics.ts";
import { listPushNotes } from "./health/bank_health_store.ts";
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";

export interface BankStateDeps {
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly metrics: Pick<PlatformMetrics, "read">;
  readonly lastPushes: Pick<LastPushes, "all">;
  readonly store: Store;
  readonly clock: Clock;
}

export interface BankState {
  readonly bank: string;
  readonly name: string;
  readonly state: PushState;
  /** Whether this process pushes no order to it for a while. */
  readonly isBreakerOpen: boolean;
  /** Of all processes. */
  readonly pushes: readonly LastPush[];
  /** As they were counted last, at most seconds ago. */
  readonly orders: Readonly<Record<"waiting" | "retrying" | "held" | "dead", number>>;
  /** Seconds that its oldest order has waited, and been held; 0 without one. */
  readonly waitedSeconds: number;
  readonly heldSeconds: number;
  /** Seconds that it waits for its reconciliation after a restore; 0 if it does not. */
  readonly unreconciledSeconds: number;
}

/** Returns the state of every registered bank. @throws {StoreFailure} */
export async function readBankStates(deps: BankStateDeps): Promise<readonly BankState[]> {
  const now = deps.clock();
  const [banks, notes] = await Promise.all([deps.listBanks(), listPushNotes(deps.store)]);
  const lists = [...notes, ...deps.lastPushes.all()];
  const gauges = gaugesOf(deps.metrics.read());
  return banks.map(({ code, orgName }) => stateOf(code, orgName, gauges, pushesTo(code, lists, now)));
}

type Gauges = ReadonlyMap<string, number>;

/** Returns the values by metric, bank and state, such as `platform_orders BANKA dead`. */
function gaugesOf(samplesOf: ReadPlatformSamples): Gauges {
  const ofBanks = [
    "platform_breaker_open_clients",
    "platform_order_oldest_age_seconds",
    "platform_order_held_age_seconds",
    "platform_bank_unreconciled_seconds",
  ] as const;
  const orders = samplesOf("platform_orders").map(({ labels: { bank, state }, value }) => {
    return [`platform_orders ${bank} ${state}`, value] as const;
  });
  const others = ofBanks.flatMap((metric) =>
    samplesOf(metric).map(({ labels: { bank }, value }) => [`${metric} ${bank}`, value] as const)
  );
  return new Map([...orders, ...others]);
}

function stateOf(bank: string, name: string, gauges: Gauges, pushes: readonly LastPush[]): BankState {
  const gauge = (metric: string): number => gauges.get(`${metric} ${bank}`) ?? 0;
  const count = (state: string): number => gauges.get(`platform_orders ${bank} ${state}`) ?? 0;
  const isBreakerOpen = gauge("platform_breaker_open_clients") > 0;
  const retrying = count("retrying");
  const isStuck = pushes.length === 0 && retrying > 0;
  return {
    bank,
    name,
    state: isBreakerOpen || isStuck ? "failing" : judge(pushes),
    isBreakerOpen,
    pushes,
    orders: { waiting: count("waiting"), retrying, held: count("held"), dead: count("dead") },
    waitedSeconds: gauge("platform_order_oldest_age_seconds"),
    heldSeconds: gauge("platform_order_held_age_seconds"),
    unreconciledSeconds: gauge("platform_bank_unreconciled_seconds"),
  };
}

const orders = z.int().openapi({ description: "As they were counted last, seconds ago." });

/** Schema of the banks. */
export const bankStatesSchema = dataSchema({
  Bank: z.array(
    z.strictObject({
      BankId: z.string(),
      Name: z.string(),
      State: z.enum(["works", "slow", "failing"]).openapi({
        description:
          "By its last pushes, at most 10 of the last 15 minutes: `failing` if it did not answer half of " +
          "them, or the circuit breaker is open; `slow` if half of its answers took longer than 1 s.",
      }),
      BreakerOpen: z.boolean().openapi({ description: "On the process that answers." }),
      Pushes: z.int(),
      PushesFailed: z.int(),
      MedianMilliseconds: z.int().optional().openapi({ description: "Of the answered ones." }),
      Waiting: orders,
      Retrying: orders.openapi({ description: "Of those that wait: with a failed push." }),
      Held: orders,
      Dead: orders,
    }).openapi("BankState"),
  ),
});

const route = operationRoute({
  method: "get",
  path: "/operations/banks",
  tags: ["State"],
  operationId: "listBankStates",
  summary: "Every registered bank: its state by its last pushes, and its orders",
  description: "The last 10 pushes of 15 minutes count, of all processes.",
  answers: { 200: operationAnswer("The banks, by code", bankStatesSchema) },
});
export function bankStateRoutes(deps: BankStateDeps): readonly PlatformEndpoint[] {
  return [
    operation(route, [], async (c) => {
      return c.json({ Data: { Bank: (await readBankStates(deps)).map(represent) } });
    }),
  ];
}

type BankOnWire = z.infer<typeof bankStatesSchema>["Data"]["Bank"][number];

function represent({ bank, name, state, isBreakerOpen, pushes, orders }: BankState): BankOnWire {
  const answered = pushes.filter(({ isAnswered }) => isAnswered);
  const median = Math.round(medianOf(answered.map(({ milliseconds }) => milliseconds)));
  return {
    BankId: bank,
    Name: name,
    State: state,
    BreakerOpen: isBreakerOpen,
    Pushes: pushes.length,
    PushesFailed: pushes.length - answered.length,
    ...(answered.length === 0 ? {} : { MedianMilliseconds: median }),
    Waiting: orders.waiting,
    Retrying: orders.retrying,
    Held: orders.held,
    Dead: orders.dead,
  };
}

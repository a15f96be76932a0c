/** What operators see of each bank: its orders, its last pushes and its state (contract OP30). */
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import type { BankClient } from "../core/registration/client.ts";
import {
  judge,
  type LastPush,
  type LastPushes,
  pushesTo,
  type PushState,
} from "../observed/figures/last_pushes.ts";
import type { PlatformMetrics, ReadPlatformSamples } from "../observed/metrics.ts";
import { listPushNotes } from "./health/push_note_store.ts";

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

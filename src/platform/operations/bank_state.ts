/** What operators see of each bank: its orders, its last pushes and its state (contract OP30). */
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankClient } from "../core/registration/client.ts";
import {
  judge,
  type LastPush,
  type LastPushes,
  pushesTo,
  type PushState,
} from "../observed/figures/last_pushes.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import type { PushNoteStore } from "./health/push_note_store.ts";
import { readScrape, type Scrape, sumBy } from "./scrape.ts";

export interface BankStateDeps {
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly metrics: Pick<PlatformMetrics, "text">;
  readonly lastPushes: Pick<LastPushes, "all">;
  readonly pushNotes: Pick<PushNoteStore, "all">;
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
  const [banks, text, notes] = await Promise.all([
    deps.listBanks(),
    deps.metrics.text(),
    deps.pushNotes.all(),
  ]);
  const scrape = readScrape(text);
  const lists = [...notes, deps.lastPushes.all()];
  return banks.map(({ code, orgName }) => stateOf(code, orgName, scrape, pushesTo(code, lists, now)));
}

function stateOf(bank: string, name: string, scrape: Scrape, pushes: readonly LastPush[]): BankState {
  const gauge = (metric: string): number => sumBy(scrape, metric, "bank").get(bank) ?? 0;
  const orders = scrape.get("platform_orders")?.filter(({ labels }) => labels["bank"] === bank) ?? [];
  const count = (state: string): number => orders.find(({ labels }) => labels["state"] === state)?.value ?? 0;
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

/** The state of each bank, from the controls and the metrics. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import type { Language } from "../../../pages/language.ts";
import { orderHoldsSchema } from "../recovery/operations_routes.ts";
import { controlsSchema } from "../control_representation.ts";
import { type Badge, State } from "../../../console/parts.tsx";
import { ordersPath } from "./orders_page.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import { readScrape, type Scrape, sumBy } from "./scrape.ts";
import type { Answer, Visit } from "../../../console/visit.ts";

export type ControlsInForce = z.infer<typeof controlsSchema>["Data"];

export interface BankRow {
  readonly bank: string;
  readonly waiting: number;
  readonly held: number;
  readonly dead: number;
  /** No process reaches it. */
  readonly isFailing: boolean;
  /** Waiting orders with a failed push. */
  readonly retrying: number;
  readonly isHeld: boolean;
  /** Held after a restore. */
  readonly isRestored: boolean;
  readonly inOutage: boolean;
  readonly isBlocked: boolean;
}

/** Returns the banks with traffic, orders or a control. */
export function busyBanks(
  { scrape, controls, restored }: Pick<BankFacts, "scrape" | "controls" | "restored">,
): readonly string[] {
  const names = new Set([
    ...restored,
    ...sumBy(scrape, "platform_bank_requests_total", "bank").keys(),
    ...sumBy(scrape, "platform_orders", "bank").keys(),
    ...sumBy(scrape, "platform_breaker_open_clients", "bank").keys(),
    ...controls.BankHold.map(({ BankId }) => BankId),
    ...controls.PlannedOutage.map(({ BankId }) => BankId),
  ]);
  return [...names].toSorted();
}

/** The state of the banks, as the operations API answers it. */
export interface BankFacts {
  readonly scrape: Scrape;
  readonly controls: ControlsInForce;
  /** Banks whose orders are held after a restore. */
  readonly restored: readonly string[];
  /** Milliseconds. */
  readonly now: number;
}

/** Reads the facts of all banks at `now` (milliseconds), or returns the first answer that has none. */
export async function readBankFacts(visit: Visit, now: number): Promise<Answer<BankFacts>> {
  const [metrics, controls, holds] = await Promise.all([
    visit.readText("/operations/metrics"), // of the process that answers
    visit.read("/operations/controls", controlsSchema),
    visit.read("/operations/order-holds", orderHoldsSchema),
  ]);
  if (!metrics.ok) return metrics;
  if (!controls.ok) return controls;
  if (!holds.ok) return holds;
  const restored = holds.value.Data.OrderHold.map(({ BankId }) => BankId);
  return {
    ok: true,
    value: { scrape: readScrape(metrics.value), controls: controls.value.Data, restored, now },
  };
}

export function bankRow(bank: string, { scrape, controls, restored, now }: BankFacts): BankRow {
  const orders = (scrape.get("platform_orders") ?? []).filter(({ labels }) => labels["bank"] === bank);
  const count = (state: string): number =>
    orders.filter(({ labels }) => labels["state"] === state).reduce((all, { value }) => all + value, 0);
  return {
    bank,
    waiting: count("waiting"),
    held: count("held"),
    dead: count("dead"),
    retrying: count("retrying"),
    isFailing: (sumBy(scrape, "platform_breaker_open_clients", "bank").get(bank) ?? 0) > 0,
    isRestored: restored.includes(bank),
    isHeld: controls.BankHold.some(({ BankId }) => BankId === bank),
    inOutage: controls.PlannedOutage.some(({ BankId, FromDateTime, UntilDateTime }) =>
      BankId === bank && Date.parse(FromDateTime) <= now && now < Date.parse(UntilDateTime)
    ),
    isBlocked: controls.Block.some(({ Kind, Id }) => Kind === "organisation" && Id === bank),
  };
}

export function BankState(
  { language, row }: { readonly language: Language; readonly row: BankRow },
): JSX.Element {
  const faults: readonly (readonly [boolean, PlainKey, Badge])[] = [
    [row.isBlocked, "state.blocked", "warn"],
    [row.isHeld, "state.held", "warn"],
    [row.isRestored, "state.restored", "warn"],
    [row.inOutage, "state.outage", "warn"],
    [row.isFailing, "state.unreachable", "bad"],
    [row.retrying > 0 && !row.isFailing, "state.retrying", "bad"],
  ];
  const present = faults.filter(([is]) => is);
  if (present.length === 0) return <State is="good" words={phrase(language, "state.works")} />;
  return <>{present.map(([, name, badge]) => <State is={badge} words={phrase(language, name)} />)}</>;
}

/** The number of a bank's orders that wait, with those held, or of those given up. Each leads to what it counts. */
export function OrderCount(
  { language, row, state }: {
    readonly language: Language;
    readonly row: BankRow;
    readonly state: "waiting" | "dead";
  },
): JSX.Element {
  const path = state === "dead" ? ordersPath("dead") : ordersPath("waiting", row.bank);
  return (
    <>
      <span class="number">{row[state] === 0 ? 0 : <a href={path}>{row[state]}</a>}</span>
      {state === "dead" || row.held === 0 ? null : (
        <span class="detail">
          <a href={ordersPath("held", row.bank)}>
            {phrase(language, "orders.heldCount", { count: row.held })}
          </a>
        </span>
      )}
    </>
  );
}

/** The state of each bank, from its last pushes and the controls. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { orderHoldsSchema } from "../recovery/operations_routes.ts";
import { bankStatesSchema } from "../bank_state_routes.ts";
import { controlsSchema } from "../control_representation.ts";
import { type Badge, State } from "../../../console/parts.tsx";
import { ordersPath } from "./orders_page.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import type { Answer, Visit } from "../../../console/visit.ts";

export type ControlsInForce = z.infer<typeof controlsSchema>["Data"];

/** A bank, with the changes of operators that concern it. */
export interface BankRow {
  readonly bank: string;
  readonly name: string;
  readonly state: BankOnWire["State"];
  /** The process that answers pushes no order to it for a while. */
  readonly isBreakerOpen: boolean;
  readonly waiting: number;
  readonly held: number;
  readonly dead: number;
  readonly isHeld: boolean;
  /** Held after a restore. */
  readonly isRestored: boolean;
  readonly inOutage: boolean;
  readonly isBlocked: boolean;
}

type BankOnWire = z.infer<typeof bankStatesSchema>["Data"]["Bank"][number];

/** The state of the banks, as the operations API answers it. */
export interface BankFacts {
  /** By name. */
  readonly rows: readonly BankRow[];
  readonly controls: ControlsInForce;
  /** Banks whose orders are held after a restore. */
  readonly restored: readonly string[];
}

/** Reads the facts of all banks at `now` (milliseconds), or returns the first answer that has none. */
export async function readBankFacts(visit: Visit, now: number): Promise<Answer<BankFacts>> {
  const [banks, controls, holds] = await Promise.all([
    visit.read("/operations/banks", bankStatesSchema),
    visit.read("/operations/controls", controlsSchema),
    visit.read("/operations/order-holds", orderHoldsSchema),
  ]);
  if (!banks.ok) return banks;
  if (!controls.ok) return controls;
  if (!holds.ok) return holds;
  const restored = holds.value.Data.OrderHold.map(({ BankId }) => BankId);
  const { compare } = new Intl.Collator(LOCALES[visit.language]);
  const rows = banks.value.Data.Bank.map((bank) => bankRow(bank, controls.value.Data, restored, now))
    .toSorted((one, other) => compare(one.name, other.name));
  return { ok: true, value: { rows, controls: controls.value.Data, restored } };
}

function bankRow(
  { BankId: bank, ...shown }: BankOnWire,
  controls: ControlsInForce,
  restored: readonly string[],
  now: number,
): BankRow {
  return {
    bank,
    name: shown.Name,
    state: shown.State,
    isBreakerOpen: shown.BreakerOpen,
    waiting: shown.Waiting,
    held: shown.Held,
    dead: shown.Dead,
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
    [row.isBreakerOpen, "state.unreachable", "bad"],
    [row.state === "failing" && !row.isBreakerOpen, "state.retrying", "bad"],
    [row.state === "slow", "state.slow", "warn"],
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

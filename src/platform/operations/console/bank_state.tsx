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

type BankOnWire = z.infer<typeof bankStatesSchema>["Data"]["Bank"][number];

/** A bank, with the changes of operators that concern it. */
export interface BankRow extends BankOnWire {
  readonly isHeld: boolean;
  /** Held after a restore. */
  readonly isRestored: boolean;
  readonly inOutage: boolean;
  readonly isBlocked: boolean;
}

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
    .toSorted((one, other) => compare(one.Name, other.Name));
  return { ok: true, value: { rows, controls: controls.value.Data, restored } };
}

function bankRow(
  shown: BankOnWire,
  controls: ControlsInForce,
  restored: readonly string[],
  now: number,
): BankRow {
  const bank = shown.BankId;
  return {
    ...shown,
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
    [row.BreakerOpen, "state.unreachable", "bad"],
    [row.State === "failing" && !row.BreakerOpen, "state.retrying", "bad"],
    [row.State === "slow", "state.slow", "warn"],
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
    readonly state: "Waiting" | "Dead";
  },
): JSX.Element {
  const path = state === "Dead" ? ordersPath("dead") : ordersPath("waiting", row.BankId);
  return (
    <>
      <span class="number">{row[state] === 0 ? 0 : <a href={path}>{row[state]}</a>}</span>
      {state === "Dead" || row.Held === 0 ? null : (
        <span class="detail">
          <a href={ordersPath("held", row.BankId)}>
            {phrase(language, "orders.heldCount", { count: row.Held })}
          </a>
        </span>
      )}
    </>
  );
}

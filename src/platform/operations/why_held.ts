/** Why a bank must not get orders now: a restore, an operator, the directory, or data that is too old. */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import type { Reader } from "../../base/store/store.ts";
import { isHeld } from "./recovery/hold_store.ts";
import type { ClientStore } from "../core/registration/client_store.ts";
import { type Controls, type CurrentControls, outageAt } from "../guards/security/controls_store.ts";
import { type StandingOf, whyInactive } from "../guards/security/standing.ts";

export interface WhyHeldDeps {
  readonly store: Reader;
  readonly clock: Clock;
  readonly currentControls: CurrentControls;
  readonly clients: Pick<ClientStore, "findBank">;
  readonly standingOf: StandingOf;
}

/** Returns the reason, or undefined if the bank may get orders. */
export function whyHeldBy(deps: WhyHeldDeps): (bank: BankCode) => Promise<string | undefined> {
  return async (bank) => {
    if (await isHeld(deps.store, bank)) return "The store was restored: reconcile.";
    return whyControlled(await deps.currentControls.get(), bank, deps.clock()) ??
      await whyNoOrders(deps, bank);
  };
}

function whyControlled(controls: Controls, bank: BankCode, now: number): string | undefined {
  if (controls.holds.some((hold) => hold.bank === bank)) return "An operator holds the bank's orders.";
  return outageAt(controls, bank, now) === undefined ? undefined : "The bank has a planned outage.";
}

async function whyNoOrders(
  { clients, standingOf, store }: WhyHeldDeps,
  code: BankCode,
): Promise<string | undefined> {
  try {
    const bank = await clients.findBank(store, code);
    const standing = bank === null ? "withdrawn" : await standingOf(bank);
    return standing === "active" ? undefined : whyInactive("bank", standing);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "platform.unavailable") throw error;
    return "The directory cannot be asked whether the bank is active.";
  }
}

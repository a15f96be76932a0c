/**
 * Background work: notes once a minute which banks are not available (contract REP2). Every process does so. A minute in
 * which no process looked counts neither for a bank nor against it.
 */
import { asBankCode, asClientId, type BankCode } from "../../../base/kernel/identifiers.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { Attributes, Span, SpanQueue } from "../../../base/observability/spans.ts";
import type { Store } from "../../../base/store/store.ts";
import type { Minute } from "../../observed/figures/figures.ts";
import type { FiguresRecorder } from "../../observed/figures/recorder.ts";
import type { BankCircuit } from "../../core/payments/deliver_order.ts";
import { listBankHealth } from "../health/bank_health_store.ts";
import { listHolds } from "../recovery/hold_store.ts";
import { bankCodeOf } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import type { Block, Controls, CurrentControls } from "../../guards/security/controls_store.ts";

export interface WatchBanksDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly currentControls: CurrentControls;
  readonly clients: Pick<ClientStore, "find" | "findBank">;
  readonly circuit: Pick<BankCircuit, "open">;
  readonly figures: Pick<FiguresRecorder, "minute">;
  readonly spans: Pick<SpanQueue, "add"> | undefined;
}

/** Opens the job. It returns 0 at once unless a minute has begun. @throws {ApiError} and {StoreFailure} if it cannot look */
export function openBankWatch(deps: WatchBanksDeps): () => Promise<number> {
  let watched = -1;
  return async () => {
    const minute = Math.floor(deps.clock() / 60_000);
    if (minute === watched) return 0;
    await watch(deps);
    watched = minute;
    return 0;
  };
}

async function watch(deps: WatchBanksDeps): Promise<void> {
  const now = deps.clock();
  const controls = await deps.currentControls.get();
  const outages = controls.outages.filter(({ from, until }) => from <= now && now < until);
  const held = await heldBanks(deps, controls);
  const marks: [Minute, string][] = [
    ...outages.map(({ bank }): [Minute, string] => ["outage", bank]),
    ...[...held].map((bank): [Minute, string] => ["held", bank]),
    ...deps.circuit.open().map(({ receiver }): [Minute, string] => ["down", receiver]),
    ...(await listBankHealth(deps.store)).filter(({ value: { state } }) => state === "down")
      .map(({ value: { bank } }): [Minute, string] => ["down", bank]),
  ];
  for (const [cause, bank] of marks) deps.figures.minute(cause, bank, now);
  deps.figures.minute("observed", undefined, now);
  deps.spans?.add(
    spanOf("watch banks", now),
    marks.map(([cause, bank]) =>
      spanOf("unavailable bank", now, { "payment.bank": bank, "payment.cause": cause })
    ),
  );
}

/** What the minute has, for an auditor (contract QTR2). */
function spanOf(name: string, start: number, attributes: Attributes = {}): Span {
  return { name, kind: "internal", start, milliseconds: 0, attributes, failed: false };
}

async function heldBanks(deps: WatchBanksDeps, controls: Controls): Promise<ReadonlySet<BankCode>> {
  const restored = await listHolds(deps.store);
  const blocked = await Promise.all(controls.blocks.map((block) => bankOf(deps, block)));
  const banks = [...controls.holds, ...restored].map(({ bank }) => bank);
  return new Set([...banks, ...blocked.filter((bank) => bank !== undefined)]);
}

/** Returns the bank that a block is about, or undefined if it is about a TPP. */
async function bankOf(
  { clients, store }: WatchBanksDeps,
  { kind, id }: Block,
): Promise<BankCode | undefined> {
  if (kind === "organisation") {
    const code = asBankCode(id);
    return code === undefined ? undefined : (await clients.findBank(store, code))?.code;
  }
  const clientId = asClientId(id);
  const client = clientId === undefined ? null : await clients.find(store, clientId);
  return client === null ? undefined : bankCodeOf(client);
}

/**
 * Compares one bank's orders in the restored store with the bank's statement, a page at a time, and ends the hold
 * when all pages agree (Decision G9). An operator starts each page. The hold stores the cursor of the next one.
 */
import type { Clock } from "../../../base/kernel/clock.ts";
import { asBankCode, type BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Log } from "../../observed/log_events.ts";
import type { ParticipantKeySets } from "../../core/participants/participant_keys.ts";
import type { BankClient } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { digest } from "../../evidence/digest.ts";
import { stageBody } from "../../evidence/evidence_store.ts";
import type { Entry } from "../../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../base/store/transaction.ts";
import { askBank, type AskBankDeps } from "./ask_bank.ts";
import { countFinding, type Hold, NOTHING_COMPARED } from "./hold.ts";
import { findHold, holdHistoryOf, orderHoldRecord, stageRelease } from "./hold_store.ts";
import { openStatement } from "./order_statement.ts";
import type { StatementPage } from "./order_statement_schema.ts";
import { withoutOrders } from "./stated_order.ts";
import { settleOrder, type SettleOrderDeps } from "./settle_order.ts";

export interface ReconcileBankDeps extends SettleOrderDeps, AskBankDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly clients: ClientStore;
  readonly keys: ParticipantKeySets;
}

/** The bank and the operator of a command. */
export interface ByOperator {
  readonly bankText: string;
  readonly operator: string;
}

/** The state of the hold after a step. */
export interface Reconciliation {
  readonly hold: Hold;
  readonly state: "held" | "comparing" | "released";
}

/**
 * Compares the next page. After the last page, ends the hold or returns the disagreements.
 *
 * @param statement the bank's signed page. If absent, the bank is asked for it.
 * @throws {ApiError} `operations.not_held`, `operations.statement_unusable`, `platform.unavailable`
 */
export async function reconcileBank(
  deps: ReconcileBankDeps,
  { bankText, operator, statement }: ByOperator & { readonly statement?: string },
): Promise<Reconciliation> {
  const { bank, entry } = await heldBank(deps, bankText);
  const text = statement ?? await asked(deps, bank, entry.value);
  const { authUrl, keys } = deps;
  const opened = await openStatement({ authUrl, keys, clock: deps.clock }, bank, entry.value, text);
  if (!opened.ok) throw unusable(opened.fault.why);
  const sha256 = digest(text);
  await keepStatement(deps, bank.code, { text, sha256 });
  const compared = await compare(deps, entry.value, opened.value, sha256);
  return await settle(deps, entry, compared, operator);
}

/**
 * Ends the hold without a comparison, at the operator's request.
 *
 * @throws {ApiError} `operations.not_held`, `platform.unavailable`
 */
export async function releaseOrders(
  deps: ReconcileBankDeps,
  { bankText, operator, reason }: ByOperator & { readonly reason: string },
): Promise<Reconciliation> {
  const { entry } = await heldBank(deps, bankText);
  const release = { actor: operator, reason, at: deps.clock() };
  if (!await commitIfUnchanged(deps, (tx) => stageRelease(tx, entry, release))) {
    throw changedMeanwhile();
  }
  deps.log.warn("order_hold.released", { bank: entry.value.bank, by: operator, reconciled: false });
  return { hold: entry.value, state: "released" };
}

async function heldBank(
  deps: ReconcileBankDeps,
  bankText: string,
): Promise<{ bank: BankClient; entry: Entry<Hold> }> {
  const code = asBankCode(bankText);
  const [bank, entry] = code === undefined
    ? [null, null]
    : await Promise.all([deps.clients.findBank(deps.store, code), findHold(deps.store, code)]);
  if (bank === null || entry === null) throw new ApiError("operations.not_held");
  return { bank, entry };
}

async function asked(deps: ReconcileBankDeps, bank: BankClient, hold: Hold): Promise<string> {
  const answer = await askBank(deps, bank.paymentOrdersUri, hold, deps.clock());
  if (!answer.ok) throw unusable(answer.fault.why);
  return answer.value;
}

/** Before the first change, because each change names the statement. */
export async function keepStatement(
  deps: TransactDeps,
  bank: BankCode,
  { text, sha256 }: { readonly text: string; readonly sha256: string },
): Promise<void> {
  const bytes = withoutOrders(text, sha256);
  const place = `${holdHistoryOf(bank)} ${sha256}`;
  await commitIfUnchanged(deps, (tx) => stageBody(tx, place, { bytes }));
}

/** Returns the hold after comparing this page. The first page starts a new comparison. */
async function compare(
  deps: ReconcileBankDeps,
  hold: Hold,
  page: StatementPage,
  statement: string,
): Promise<Hold> {
  const { after: _, ...rest } = hold;
  let comparison = hold.after === undefined ? NOTHING_COMPARED : hold.comparison;
  const by = { bank: hold.bank, statement, reason: "stated by the bank after a restore" };
  for (const stated of page.orders) {
    comparison = countFinding(comparison, await settleOrder(deps, by, stated));
  }
  return { ...rest, ...(page.next === undefined ? {} : { after: page.next }), comparison };
}

async function settle(
  deps: ReconcileBankDeps,
  former: Entry<Hold>,
  hold: Hold,
  operator: string,
): Promise<Reconciliation> {
  const { bank, comparison, after } = hold;
  const done = after === undefined && comparison.disagreements.length === 0;
  const { recovered, updated, agreed } = comparison;
  const reason = `reconciled: ${recovered} recovered, ${updated} updated, ${agreed} agreed`;
  const isStored = await commitIfUnchanged(deps, (tx) => {
    if (done) stageRelease(tx, former, { actor: operator, reason, at: deps.clock() });
    else orderHoldRecord.replace(tx, former.key, former, hold);
  });
  if (!isStored) throw changedMeanwhile();
  if (done) deps.log.info("order_hold.released", { bank, by: operator, reconciled: true });
  return { hold, state: done ? "released" : after === undefined ? "held" : "comparing" };
}

export function unusable(why: string): ApiError {
  return new ApiError("operations.statement_unusable", { detail: why, description: asciiOf(why) });
}

function changedMeanwhile(): ApiError {
  return new ApiError("platform.unavailable", {
    detail: "another reconciliation of this bank",
    retryAfterSeconds: 1,
  });
}

/** Replaces the characters that `error_description` must not contain (RFC 6749 §5.2). */
function asciiOf(text: string): string {
  return `The bank's statement cannot be used: ${text}.`.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?");
}

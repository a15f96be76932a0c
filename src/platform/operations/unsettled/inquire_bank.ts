/**
 * Asks a bank about the payments on which it has not decided for long, with the inquiry that restores use (contract OP35).
 * What the bank's signed statement says of other payments changes nothing.
 */
import type { SteadyClock, WallTime } from "../../../base/kernel/clock.ts";
import { asBankCode, type PaymentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { transact } from "../../../base/store/transaction.ts";
import { digest } from "../../evidence/digest.ts";
import type { BankClient } from "../../core/registration/client.ts";
import { stageControlEvent } from "../../guards/security/controls_store.ts";
import { askBank } from "../recovery/ask_bank.ts";
import {
  type Comparison,
  countFinding,
  type Finding,
  type Inquiry,
  NOTHING_COMPARED,
} from "../recovery/hold.ts";
import { openStatement } from "../recovery/order_statement.ts";
import { keepStatement, type ReconcileBankDeps, unusable } from "../recovery/reconcile_bank.ts";
import { settleOrder } from "../recovery/settle_order.ts";
import { readUnsettled, type ReadUnsettledDeps } from "./find_unsettled.ts";

export interface InquireBankDeps extends Omit<ReconcileBankDeps, "payments">, ReadUnsettledDeps {
  readonly payments: ReconcileBankDeps["payments"];
  readonly steady: SteadyClock;
}

/** What came of an inquiry. */
export interface Inquired {
  readonly comparison: Comparison;
  /** How many payments were asked for, and of how many the bank said nothing. */
  readonly asked: number;
  readonly unmentioned: number;
}

/** Pages of a statement, each of at most 200 orders. */
const MAX_PAGES = 100;
/** A bank may take this for all pages, so that the operator's request has an end. */
const TIMEOUT_MS = 60_000;

/** @throws {ApiError} `operations.not_found`, `operations.statement_unusable`, `platform.unavailable` */
export async function inquireBank(
  deps: InquireBankDeps,
  { bankText, operator }: { readonly bankText: string; readonly operator: string },
): Promise<Inquired> {
  const code = asBankCode(bankText);
  const bank = code === undefined ? null : await deps.clients.findBank(deps.store, code);
  if (bank === null) throw new ApiError("operations.not_found");
  const asked = await readUnsettled(deps, bank.code);
  const open = new Set(asked.map(({ id }) => id));
  const [oldest] = asked;
  if (oldest === undefined) return { comparison: NOTHING_COMPARED, asked: 0, unmentioned: 0 };
  let comparison = NOTHING_COMPARED;
  try {
    for await (const finding of findings(deps, bank, oldest.createdAt, open)) {
      comparison = countFinding(comparison, finding);
    }
  } finally { // what a page has changed stays if a later one fails
    await record(deps, `bank ${bank.code}`, operator, comparison, open.size);
  }
  return { comparison, asked: asked.length, unmentioned: open.size };
}

/** Asks page by page, and applies what the bank says of the payments in `open`, which are removed from it. */
async function* findings(
  deps: InquireBankDeps,
  bank: BankClient,
  since: WallTime,
  open: Set<PaymentId>,
): AsyncGenerator<Finding> {
  const began = deps.steady();
  let inquiry: Inquiry = { bank: bank.code, since, restoredAt: deps.clock() };
  for (let page = 0; page < MAX_PAGES && deps.steady() - began < TIMEOUT_MS; page++) {
    const answer = await askBank(deps, bank.paymentOrdersUri, inquiry, deps.clock());
    if (!answer.ok) throw unusable(answer.fault.why);
    const opened = await openStatement(deps, bank, inquiry, answer.value);
    if (!opened.ok) throw unusable(opened.fault.why);
    const statement = digest(answer.value);
    await keepStatement(deps, bank.code, { text: answer.value, sha256: statement });
    const by = { bank: bank.code, statement, reason: "stated by the bank when it was asked" };
    for (const stated of opened.value.orders.filter(({ paymentId }) => open.delete(paymentId))) {
      yield await settleOrder(deps, by, stated);
    }
    const { next } = opened.value;
    if (next === undefined || open.size === 0) return;
    inquiry = { ...inquiry, after: next };
  }
}

async function record(
  deps: InquireBankDeps,
  subject: string,
  actor: string,
  { updated, agreed, disagreements }: Comparison,
  unmentioned: number,
): Promise<void> {
  const event = "bank.inquired";
  const reason =
    `${updated} updated, ${agreed} unchanged, ${disagreements.length} disagree, ${unmentioned} not mentioned`;
  await transact(deps, { what: "inquiry" }, async (tx) => {
    await stageControlEvent(tx, subject, { at: deps.clock(), event, actor, reason });
  });
  deps.log.warn(event, { party: subject, by: actor });
}

/**
 * One bank's ledger: balances and executed orders, in a Deno KV file that survives the process. Execution is one atomic
 * commit that records the order's id once, however often the order is pushed or pulled (Decision D1).
 */
import { accountAt, accountId, type Customer, type CustomerAccount } from "./customers.ts";
import type { BankReasonCode } from "../../client/party/reason_codes.ts";
import { minorUnits, wireAmountOf } from "./money.ts";
import type { PaymentOrder } from "../../client/bank/payment_order.ts";

/** The bank's answer to an order (Decision D4). */
export type OrderStatus = "AcceptedSettlementInProcess" | "Rejected";

/** Why an order was rejected. */
export interface RejectionReason {
  readonly reasonCode: BankReasonCode;
  readonly reason?: string;
}

/** An order that the bank has processed; `status` changes as the payment settles. */
export interface ExecutedOrder extends Partial<RejectionReason> {
  readonly order: PaymentOrder;
  /** The first result, repeated on every later delivery. */
  readonly answer: OrderStatus;
  readonly status: string;
  readonly executedAtMs: number;
  /** When the platform accepted the last status report; absent before the first. */
  readonly reportedAtMs?: number;
}

/** Result of a delivery. */
export interface OrderOutcome extends Partial<RejectionReason> {
  readonly answer: OrderStatus;
  /** False when the order had been delivered before. */
  readonly isNew: boolean;
}

/** Balances of all accounts at one moment. */
export interface Balances {
  /** `"10.50"`. */
  readonly of: (account: CustomerAccount) => string;
}

/** The ledger of one bank. */
export interface Ledger {
  /**
   * Executes the order, or repeats the first result. `rejection` is called only for a new order and may return a reason
   * to reject it, independent of the balance.
   */
  readonly execute: (
    order: PaymentOrder,
    rejection?: () => RejectionReason | undefined,
  ) => Promise<OrderOutcome>;
  /** Records that the platform accepted a status report. */
  readonly noteStatus: (domesticPaymentId: string, status: string) => Promise<void>;
  readonly balances: () => Promise<Balances>;
  readonly find: (domesticPaymentId: string) => Promise<ExecutedOrder | undefined>;
  /** In the order of execution. */
  readonly orders: () => Promise<readonly ExecutedOrder[]>;
  /** The platform's `After` cursor up to which every order has been pulled. */
  readonly pulledUpTo: () => Promise<string | undefined>;
  readonly notePulledUpTo: (after: string) => Promise<void>;
  readonly close: () => void;
}

export interface LedgerDeps {
  /** A file that no other process has open, or `:memory:`. */
  readonly path: string;
  readonly customers: readonly Customer[];
  /** Milliseconds. */
  readonly clock: () => number;
}

const balanceKey = (account: string): Deno.KvKey => ["balance", account];
const orderKey = (domesticPaymentId: string): Deno.KvKey => ["order", domesticPaymentId];
const pulledKey: Deno.KvKey = ["pulled_up_to"];

/** Opens a ledger; a new one has the customers' opening balances. */
export async function openLedger({ path, customers, clock }: LedgerDeps): Promise<Ledger> {
  const kv = await Deno.openKv(path);
  const accounts = customers.flatMap((customer) => customer.accounts);
  let last: Promise<unknown> = Promise.resolve();
  // Serialises commits of this process, so that they do not conflict with each other.
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = last.then(act, act);
    last = turn;
    return turn;
  };
  return {
    execute: (order, rejection) => inTurn(() => executeOnce({ kv, accounts, clock }, order, rejection)),
    noteStatus: (id, status) => inTurn(() => noteStatus(kv, id, status, clock())),
    balances: () => readBalances(kv, accounts),
    find: async (id) => (await kv.get<ExecutedOrder>(orderKey(id))).value ?? undefined,
    orders: () => readOrders(kv),
    pulledUpTo: async () => (await kv.get<string>(pulledKey)).value ?? undefined,
    notePulledUpTo: async (after) => void await kv.set(pulledKey, after),
    close: () => kv.close(),
  };
}

interface Book {
  readonly kv: Deno.Kv;
  readonly accounts: readonly CustomerAccount[];
  readonly clock: () => number;
}

async function executeOnce(
  { kv, accounts, clock }: Book,
  order: PaymentOrder,
  rejection: () => RejectionReason | undefined = () => undefined,
): Promise<OrderOutcome> {
  const key = orderKey(order.domesticPaymentId);
  const known = await kv.get<ExecutedOrder>(key);
  if (known.value !== null) return outcomeOf(known.value, false);
  const account = accountOf(accounts, order);
  const balance = await kv.get<number>(balanceKey(account === undefined ? "" : accountId(account)));
  const debit = debitOf(order, account, balance.value ?? account?.openingMinorUnits ?? 0);
  const reason = rejection() ?? debit.reason;
  const answer = reason === undefined ? "AcceptedSettlementInProcess" : "Rejected";
  const executed = { order, answer, status: answer, executedAtMs: clock(), ...reason } as const;
  const commit = kv.atomic().check(known).check(balance)
    .set(key, executed);
  if (reason === undefined) commit.set(balance.key, debit.remaining);
  // Both were read in this turn, and no other process has the file open.
  if (!(await commit.commit()).ok) throw new Error("the book was changed by somebody else");
  return outcomeOf(executed, true);
}

function outcomeOf({ answer, reasonCode, reason }: ExecutedOrder, isNew: boolean): OrderOutcome {
  return {
    answer,
    isNew,
    ...(reasonCode === undefined ? {} : { reasonCode }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function accountOf(
  accounts: readonly CustomerAccount[],
  { debtor, initiation }: PaymentOrder,
): CustomerAccount | undefined {
  return accountAt(accounts, debtor, debtor.Currency ?? initiation.InstructedAmount.Currency);
}

/** The account's remaining balance, or the reason why it cannot be debited. */
function debitOf(
  { initiation: { InstructedAmount: amount } }: PaymentOrder,
  account: CustomerAccount | undefined,
  balance: number,
): { readonly remaining: number; readonly reason?: RejectionReason } {
  const rejected = (reasonCode: BankReasonCode, reason: string): {
    remaining: number;
    reason: RejectionReason;
  } => ({ remaining: balance, reason: { reasonCode, reason } });
  if (account === undefined) return rejected("AC01", "Unknown debtor account");
  if (account.currency !== amount.Currency) return rejected("AM03", "The account has another currency");
  const units = minorUnits(amount.Amount);
  if (units === undefined || units === 0) return rejected("AM12", "The amount cannot be paid");
  return balance < units ? rejected("AM04", "Insufficient funds") : { remaining: balance - units };
}

async function noteStatus(kv: Deno.Kv, domesticPaymentId: string, status: string, at: number): Promise<void> {
  const known = await kv.get<ExecutedOrder>(orderKey(domesticPaymentId));
  if (known.value !== null) await kv.set(known.key, { ...known.value, status, reportedAtMs: at });
}

async function readBalances(kv: Deno.Kv, accounts: readonly CustomerAccount[]): Promise<Balances> {
  const units = new Map(
    await Promise.all(accounts.map(async (account) => {
      const id = accountId(account);
      const kept = await kv.get<number>(balanceKey(id));
      return [id, kept.value ?? account.openingMinorUnits] as const;
    })),
  );
  return { of: (account) => wireAmountOf(units.get(accountId(account)) ?? 0) };
}

async function readOrders(kv: Deno.Kv): Promise<readonly ExecutedOrder[]> {
  const orders: ExecutedOrder[] = [];
  for await (const { value } of kv.list<ExecutedOrder>({ prefix: ["order"] })) orders.push(value);
  return orders.sort((a, b) => a.executedAtMs - b.executedAtMs);
}

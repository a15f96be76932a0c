/**
 * One bank's book: balances and the orders it has executed. An order id is executed at most once, whatever is
 * delivered again (Decision D1). Kept in memory: a fresh start opens a fresh book.
 */
import { type Customer, type CustomerAccount, ibanSchemes, plainIban } from "./customers.ts";
import { minorUnits, wireAmountOf } from "./money.ts";
import type { PaymentOrder } from "./payment_order.ts";

/** The bank's answer to an order (Decision D4). */
export type OrderStatus = "AcceptedSettlementInProcess" | "Rejected";

/** An order the bank has dealt with; `status` moves on as the payment settles. */
export interface ExecutedOrder {
  readonly order: PaymentOrder;
  /** What was answered, and is answered again on repeated delivery. */
  readonly answer: OrderStatus;
  readonly status: string;
  /** Why it was rejected. */
  readonly reason?: string;
  readonly executedAtMs: number;
}

/** What came of a delivery. */
export interface OrderOutcome {
  readonly answer: OrderStatus;
  /** False when the order had been delivered before. */
  readonly isNew: boolean;
}

/** The book of one bank. */
export interface Ledger {
  /** Executes the order, or repeats the first answer. */
  readonly execute: (order: PaymentOrder) => OrderOutcome;
  /** Notes that the platform took a status report. */
  readonly noteStatus: (domesticPaymentId: string, status: string) => void;
  /** `"10.50"`: what is on the account. */
  readonly balanceOf: (account: CustomerAccount) => string;
  /** In the order of execution. */
  readonly orders: () => readonly ExecutedOrder[];
}

/** A book with the customers' opening balances. */
export function createLedger(customers: readonly Customer[], clock: () => number): Ledger {
  const accounts = customers.flatMap((customer) => customer.accounts);
  const balances = new Map(
    accounts.map(({ identification, openingMinorUnits }) => [identification, openingMinorUnits]),
  );
  const orders = new Map<string, ExecutedOrder>();

  /** Undefined when debited, else why not. Runs without an await: no other delivery can come in between. */
  function debit({ amount, debtor }: PaymentOrder): string | undefined {
    const account = ibanSchemes.has(debtor.SchemeName)
      ? accounts.find(({ identification }) => identification === plainIban(debtor.Identification))
      : undefined;
    if (account === undefined) return "unknown debtor account";
    if (account.currency !== amount.Currency) return "account has another currency";
    const units = minorUnits(amount.Amount);
    if (units === undefined || units === 0) return "amount cannot be paid";
    const balance = balances.get(account.identification) ?? 0;
    if (balance < units) return "insufficient funds";
    balances.set(account.identification, balance - units);
    return undefined;
  }

  return {
    execute(order): OrderOutcome {
      const known = orders.get(order.domesticPaymentId);
      if (known !== undefined) return { answer: known.answer, isNew: false };
      const reason = debit(order);
      const answer = reason === undefined ? "AcceptedSettlementInProcess" : "Rejected";
      const executed = { order, answer, status: answer, executedAtMs: clock() } as const;
      orders.set(order.domesticPaymentId, reason === undefined ? executed : { ...executed, reason });
      return { answer, isNew: true };
    },
    noteStatus(domesticPaymentId, status): void {
      const known = orders.get(domesticPaymentId);
      if (known !== undefined) orders.set(domesticPaymentId, { ...known, status });
    },
    balanceOf: ({ identification }) => wireAmountOf(balances.get(identification) ?? 0),
    orders: () => [...orders.values()],
  };
}

/**
 * Everybody's books at the end: the platform's as its TPP, its banks and its operator read them, the banks' ledgers,
 * and the histories in the platform's store once it has stopped.
 */
import { z } from "zod";
import { historyOf } from "../../../src/platform/evidence/audit_trail.ts";
import type { AuditEntry } from "../../../src/platform/evidence/evidence.ts";
import { listOrders } from "../../../src/client/bank/back_channel.ts";
import { openBank } from "../../../src/client/bank/bank.ts";
import { accountId } from "../../../src/sandbox/bank/customers.ts";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { readConsent } from "../../../src/client/tpp/domestic_payments.ts";
import type { PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { getResource } from "../../../src/client/tpp/resource_request.ts";
import { compareFunnel } from "../../testing/funnel_oracle.ts";
import { persistently } from "./calls.ts";
import { readSealedRecords, type SealedRecords } from "./sealed_records.ts";
import type { ProvedSystem } from "./system.ts";

const amountSchema = z.object({ Amount: z.string(), Currency: z.string() });
const paymentSchema = z.object({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.uuid(),
  Status: z.string(),
  Initiation: z.object({ InstructedAmount: amountSchema }),
});
const executedSchema = z.object({
  DomesticPaymentId: z.uuid(),
  Status: z.string(),
  InstructedAmount: amountSchema,
  DebtorAccount: z.object({ Identification: z.string() }),
});
const ledgerSchema = z.object({
  Accounts: z.array(z.object({ Identification: z.string(), Currency: z.string(), Balance: z.string() })),
  Orders: z.array(executedSchema),
});
/** A payment as the platform shows it. */
export type PaymentSeen = z.infer<typeof paymentSchema>;
/** An order as a bank's ledger shows it. */
export type ExecutedSeen = z.infer<typeof executedSchema>;

/** One bank's side. */
export interface BankBooks {
  /** The bank's orders according to the platform. */
  readonly orders: readonly PaymentSeen[];
  /** The orders that the bank has executed. */
  readonly executed: readonly ExecutedSeen[];
  /** Account number and currency to balance. */
  readonly balances: Readonly<Record<string, string>>;
}

const FOLDER: Readonly<Record<string, string>> = { BANKA: "bank-a", BANKB: "bank-b" };

/** Both sides of one bank: its orders by the back channel, its ledger by its own page. */
export async function readBankBooks(sandbox: ProvedSystem, code: string): Promise<BankBooks> {
  const { dir, endpoints } = sandbox;
  const bank = await openBank({ dir, name: FOLDER[code] ?? "", endpoints });
  try {
    const orders: PaymentSeen[] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = await listOrders(bank, after);
      orders.push(...upToCursor(page.orders.map((order) => paymentSchema.parse(order)), page.after));
      if (page.after === after) await new Promise((resolve) => setTimeout(resolve, 1000)); // too young yet
      after = page.after;
      more = after !== undefined;
    }
    const ledger = ledgerSchema.parse(await (await fetch(`${endpoints.banks_url}/${code}/ledger`)).json());
    const balances = ledger.Accounts.map((
      { Identification: identification, Currency: currency, Balance },
    ) => [accountId({ identification, currency }), Balance]);
    return { orders, executed: ledger.Orders, balances: Object.fromEntries(balances) };
  } finally {
    bank.close();
  }
}

/**
 * Returns the orders of a page that the next page does not repeat. The cursor ends with the id of an order, and a page
 * may go on behind it with orders so young that an older one may still become visible.
 *
 * @param after of the page, undefined for the last one
 */
export function upToCursor(
  orders: readonly PaymentSeen[],
  after: string | undefined,
): readonly PaymentSeen[] {
  if (after === undefined) return orders;
  return orders.slice(0, orders.findLastIndex((order) => after.endsWith(order.DomesticPaymentId)) + 1);
}

/** Payments and consents of a bank as the TPP reads them, by id; undefined where it is told that there is none. */
export interface TppBooks {
  readonly payments: ReadonlyMap<string, PaymentSeen | undefined>;
  readonly consents: ReadonlyMap<string, string>;
}

/** Reads them, one after the other. */
export async function readTppBooks(
  sandbox: ProvedSystem,
  flow: PaymentFlow,
  ids: { readonly payments: readonly string[]; readonly consents: readonly string[] },
): Promise<TppBooks> {
  const token = await persistently(sandbox, () => grantClientToken(flow));
  const payments = new Map<string, PaymentSeen | undefined>();
  for (const id of ids.payments) {
    const path = `domestic-payments/v1/${id}`;
    const read = await persistently(sandbox, () => getResource(flow, token, path)).catch(() => undefined);
    const seen = z.object({ Data: paymentSchema }).safeParse(read);
    payments.set(id, seen.success ? seen.data.Data : undefined);
  }
  const consents = new Map<string, string>();
  for (const id of ids.consents) {
    consents.set(id, (await persistently(sandbox, () => readConsent(flow, token, id))).status);
  }
  return { payments, consents };
}

const receivedSchema = z.object({
  event: z.literal("bank.order.received"),
  id: z.string(),
  by: z.literal("push"),
  isNew: z.literal(false),
});

/** Orders that were pushed to a bank which had them already, by the sandbox's log. */
export async function readRepeatedPushes(dir: string): Promise<ReadonlySet<string>> {
  const lines = (await Deno.readTextFile(`${dir}/sandbox.log`)).split("\n");
  return new Set(lines.flatMap((line) => {
    if (!line.includes('"bank.order.received"')) return [];
    const received = receivedSchema.safeParse(JSON.parse(line));
    return received.success ? [received.data.id] : [];
  }));
}

/** Histories by subject, orders that still wait in the outbox, and those that were given up; the platform must have stopped. */
export async function readStore(system: ProvedSystem, subjects: readonly string[]): Promise<{
  readonly histories: ReadonlyMap<string, readonly AuditEntry[]>;
  readonly waiting: readonly string[];
  readonly dead: readonly string[];
  readonly sealed: SealedRecords;
  readonly funnel: Awaited<ReturnType<typeof compareFunnel>>;
}> {
  const store = await system.openStore();
  try {
    const histories = new Map<string, readonly AuditEntry[]>();
    for (const subject of subjects) histories.set(subject, await historyOf(store, subject));
    const waiting = await store.list({ prefix: ["outbox"], limit: 1000 });
    const dead = await store.list({ prefix: ["outbox_dead"], limit: 1000 });
    const idsOf = (entries: typeof waiting): string[] => entries.map(({ key }) => key.at(-1) ?? "");
    const sealed = await readSealedRecords(store);
    const funnel = await compareFunnel(store, Date.now());
    return { histories, waiting: idsOf(waiting), dead: idsOf(dead), sealed, funnel };
  } finally {
    await store.close();
  }
}

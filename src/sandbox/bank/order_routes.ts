/** Machine routes of a bank: the platform pushes payment orders, and everyone in the sandbox can read the ledger. */
import { Hono } from "hono";
import { reportStatus } from "../../client/bank/back_channel.ts";
import type { StatedOrder } from "../../client/bank/order_statement.ts";
import { type OrderAnswer, ordersHandler } from "../../client/bank/orders_handler.ts";
import type { PaymentOrder } from "../../client/bank/payment_order.ts";
import { toPain001 } from "../../client/iso20022/pain001.ts";
import type { Bank } from "./bank.ts";
import type { ExecutedOrder } from "./ledger.ts";
import { takeOrder } from "./take_order.ts";

/** Longer than the TPP waits, shorter than the platform's push timeout (Decision D4). */
const lateMs = 4000;

/** Routes below `/{CODE}`. */
export function orderRoutes(bank: Bank): Hono {
  const routes = new Hono();
  const handle = ordersHandler(bank.party, {
    execute: (order) => answer(bank, order),
    heldSince: (since) => heldSince(bank, since),
    onRejected: (reason) => bank.log("order.refused", { bank: bank.profile.code, reason }),
  });
  routes.post("/payment-orders", (c) => handle(c.req.raw));
  routes.get("/ledger", async (c) => {
    const [accounts, orders] = await Promise.all([accountsOf(bank), bank.ledger.orders()]);
    return c.json({ Accounts: accounts, Orders: orders.map(wireOrder) });
  });
  routes.get("/ledger/:id/pain.001", async (c) => {
    const executed = await bank.ledger.find(c.req.param("id"));
    if (executed === undefined) return c.notFound();
    const { order, executedAtMs: at } = executed;
    return c.body(toPain001(order, { debtorAgent: { id: bank.profile.code }, at }), 200, {
      "content-type": "application/xml",
    });
  });
  return routes;
}

/** The response of Decision D4, or that of the fault that applies here. */
async function answer(bank: Bank, order: PaymentOrder): Promise<OrderAnswer | Response> {
  // A push fault applies only to an order that is not yet executed.
  const isKnown = await bank.ledger.find(order.domesticPaymentId) !== undefined;
  const subject = { consentId: order.consentId, amount: order.initiation.InstructedAmount.Amount };
  const fault = isKnown ? undefined : bank.faults.meet("push", subject)?.name;
  if (fault === "server_error") return Response.json({ error: "temporarily_unavailable" }, { status: 503 });
  if (fault === "wrong_status") return { status: "Accepted" };
  if (fault === "no_json") return new Response("OK");
  if (fault === "not_found") return Response.json({ error: "not_found" }, { status: 404 });
  if (fault === "reset") return brokenAnswer();
  const { answer: status, reasonCode, reason } = await takeOrder(bank, order, "push");
  if (fault === "lose_answer") return brokenAnswer();
  if (fault === "answer_late") await bank.pause(lateMs);
  if (fault === "answer_twice") {
    const { domesticPaymentId } = order;
    await reportStatus(bank.party, { domesticPaymentId, status, reasonCode, reason });
  }
  return { status, reasonCode, reason };
}

async function heldSince({ ledger }: Bank, since: number): Promise<readonly StatedOrder[]> {
  const orders = await ledger.orders();
  return orders.filter(({ executedAtMs, reportedAtMs }) => (reportedAtMs ?? executedAtMs) >= since)
    .map((
      { order: { domesticPaymentId, consentId, signed }, status, reasonCode, reason, executedAtMs: at },
    ) => ({ ...{ domesticPaymentId, consentId, signed }, ...{ status, reasonCode, reason, at } }));
}

async function accountsOf({ customers, ledger }: Bank): Promise<readonly Readonly<Record<string, string>>[]> {
  const balances = await ledger.balances();
  return customers.flatMap((customer) =>
    customer.accounts.map((account) => ({
      Customer: customer.username,
      SchemeName: account.schemeName,
      Identification: account.identification,
      Currency: account.currency,
      Balance: balances.of(account),
    }))
  );
}

function wireOrder(
  { order, status, reasonCode, reason, executedAtMs }: ExecutedOrder,
): Readonly<Record<string, unknown>> {
  return {
    DomesticPaymentId: order.domesticPaymentId,
    ...(order.consentId === undefined ? {} : { ConsentId: order.consentId }),
    Status: status,
    ...(reasonCode === undefined ? {} : { StatusReasonCode: reasonCode }),
    ...(reason === undefined ? {} : { StatusReason: reason }),
    InstructedAmount: order.initiation.InstructedAmount,
    DebtorAccount: order.debtor,
    CreditorAccount: order.initiation.CreditorAccount,
    ExecutionDateTime: new Date(executedAtMs).toISOString(),
  };
}

// Simulates a connection that is reset before the response is complete.

/** A response with headers and the start of a body, whose stream then fails. */
export function brokenAnswer(): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode("{"));
    },
    pull(controller): void {
      controller.error(new Error("this bank breaks off"));
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

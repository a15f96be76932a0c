/** Machine routes of a bank: the platform pushes payment orders, and everyone in the sandbox can read the ledger. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { MAX_BODY_BYTES } from "../../client/party/profile.ts";
import type { Bank } from "./bank.ts";
import { brokenAnswer } from "./broken_answer.ts";
import type { ExecutedOrder, OrderStatus } from "./ledger.ts";
import { isInquiry, stateOrders } from "./order_statement.ts";
import { openPaymentOrder, OrderRejected, type PaymentOrder } from "./payment_order.ts";
import { reportStatus } from "./platform_client.ts";
import { takeOrder } from "./take_order.ts";

/** Longer than the TPP waits, shorter than the platform's push timeout (Decision D4). */
const lateMs = 4000;

/** Routes below `/{CODE}`. */
export function orderRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.post("/payment-orders", bodyLimit({ maxSize: MAX_BODY_BYTES }), async (c) => {
    const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (mediaType !== "application/jose") return c.json({ error: "unsupported_media_type" }, 415);
    try {
      const token = await c.req.text();
      if (isInquiry(token)) {
        return c.body(await stateOrders(bank, token), 200, { "content-type": "application/jose" });
      }
      const order = await openPaymentOrder({ ...bank, bankCode: bank.profile.code }, token);
      return await answer(c, bank, order);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      bank.log("order.refused", { bank: bank.profile.code, reason });
      // Any other error (such as an unavailable key set) may be temporary, so the platform tries again.
      return error instanceof OrderRejected
        ? c.json({ error: "invalid_order" }, 400)
        : c.json({ error: "temporarily_unavailable" }, 503);
    }
  });
  routes.get("/ledger", async (c) => {
    const [accounts, orders] = await Promise.all([accountsOf(bank), bank.ledger.orders()]);
    return c.json({ Accounts: accounts, Orders: orders.map(wireOrder) });
  });
  return routes;
}

/** The response of Decision D4, or that of the fault that applies here. */
async function answer(c: Context, bank: Bank, order: PaymentOrder): Promise<Response> {
  // A push fault applies only to an order that is not yet executed.
  const isKnown = await bank.ledger.find(order.domesticPaymentId) !== undefined;
  const subject = { consentId: order.consentId, amount: order.amount.Amount };
  const fault = isKnown ? undefined : bank.faults.meet("push", subject);
  if (fault === "server_error") return c.json({ error: "temporarily_unavailable" }, 503);
  if (fault === "wrong_status") return c.json({ Status: "Accepted" }, 200);
  if (fault === "no_json") return c.text("OK", 200);
  if (fault === "not_found") return c.json({ error: "not_found" }, 404);
  if (fault === "reset") return brokenAnswer();
  const { answer: status, reason } = await takeOrder(bank, order, "push");
  if (fault === "lose_answer") return brokenAnswer();
  if (fault === "answer_late") await bank.pause(lateMs);
  if (fault === "answer_twice") {
    await reportAnswer(bank, order, { status, ...(reason === undefined ? {} : { reason }) });
  }
  return c.json({ Status: status, ...(reason === undefined ? {} : { StatusReason: reason }) }, 200);
}

async function reportAnswer(
  { platform }: Bank,
  { domesticPaymentId }: PaymentOrder,
  answer: { readonly status: OrderStatus; readonly reason?: string },
): Promise<void> {
  await reportStatus(platform, { domesticPaymentId, ...answer });
}

async function accountsOf(
  { customers, ledger }: Bank,
): Promise<readonly Readonly<Record<string, string>>[]> {
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
  { order, status, reason, executedAtMs }: ExecutedOrder,
): Readonly<Record<string, unknown>> {
  return {
    DomesticPaymentId: order.domesticPaymentId,
    ...(order.consentId === undefined ? {} : { ConsentId: order.consentId }),
    Status: status,
    ...(reason === undefined ? {} : { StatusReason: reason }),
    InstructedAmount: order.amount,
    DebtorAccount: order.debtor,
    CreditorAccount: order.creditor,
    ExecutionDateTime: new Date(executedAtMs).toISOString(),
  };
}

/** Machine routes of a bank: the platform pushes payment orders, and anyone in the sandbox reads the ledger. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { MAX_BODY_BYTES } from "../../profile.ts";
import type { Bank } from "./bank.ts";
import type { ExecutedOrder } from "./ledger.ts";
import { openPaymentOrder, OrderRefused } from "./payment_order.ts";

/** Routes below `/{CODE}`. */
export function orderRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.post("/payment-orders", bodyLimit({ maxSize: MAX_BODY_BYTES }), async (c) => {
    const mediaType = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (mediaType !== "application/jose") return c.json({ error: "unsupported_media_type" }, 415);
    try {
      const order = await openPaymentOrder({ ...bank, bankCode: bank.profile.code }, await c.req.text());
      const { answer, isNew } = bank.ledger.execute(order);
      bank.log("order.received", { bank: bank.profile.code, id: order.domesticPaymentId, answer, isNew });
      if (isNew && answer !== "Rejected") bank.settlement.begin(order.domesticPaymentId);
      return c.json({ Status: answer }, 200); // Decision D4
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      bank.log("order.refused", { bank: bank.profile.code, reason });
      // Anything else (no key set to be had) may go better at the platform's next try.
      return error instanceof OrderRefused
        ? c.json({ error: "invalid_order" }, 400)
        : c.json({ error: "temporarily_unavailable" }, 503);
    }
  });
  routes.get(
    "/ledger",
    (c) => c.json({ Accounts: accountsOf(bank), Orders: bank.ledger.orders().map(wireOrder) }),
  );
  return routes;
}

function accountsOf({ customers, ledger }: Bank): readonly Readonly<Record<string, string>>[] {
  return customers.flatMap((customer) =>
    customer.accounts.map((account) => ({
      Customer: customer.username,
      SchemeName: account.schemeName,
      Identification: account.identification,
      Currency: account.currency,
      Balance: ledger.balanceOf(account),
    }))
  );
}

function wireOrder(
  { order, status, reason, executedAtMs }: ExecutedOrder,
): Readonly<Record<string, unknown>> {
  return {
    DomesticPaymentId: order.domesticPaymentId,
    Status: status,
    ...(reason === undefined ? {} : { StatusReason: reason }),
    InstructedAmount: order.amount,
    DebtorAccount: order.debtor,
    CreditorAccount: order.creditor,
    ExecutionDateTime: new Date(executedAtMs).toISOString(),
  };
}

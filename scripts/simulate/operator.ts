/** The platform's operator: has orders that were given up tried again. */
import { type Line, persistently } from "./calls.ts";
import { OPERATOR_TOKEN } from "./parties.ts";

/** Looks once, and has every order that was given up tried again. */
export async function redriveOrders(line: Line): Promise<void> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const list = {
    method: "GET",
    path: "/operations/payment-orders?state=dead",
    headers,
    isOperator: true,
  } as const;
  const { text } = await persistently(line, () => list);
  for (const { DomesticPaymentId: id } of JSON.parse(text).Data.PaymentOrder) {
    const path = `/operations/payment-orders/${id}/redrive`;
    await persistently(line, () => ({ method: "POST", path, headers, isOperator: true }));
  }
}

/** The platform's operator: has orders that were given up tried again, and ends the holds after a restore. */
import type { OpenOrders, OrderHold } from "../../testing/operation_answers.ts";
import { type Line, persistently } from "./calls.ts";
import { OPERATOR_TOKEN } from "./parties.ts";

const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
/** More than an hour: a clock may be so much ahead at a restore, and until then no statement is from after it. */
const MAX_ROUNDS = 150;
const PAUSE_MS = 30_000;

/** Ends every hold: compares it with the bank's statement, or releases the orders on the operator's own word. */
export async function endHolds(line: Line, reconciles: boolean): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const list = { method: "GET", path: "/operations/order-holds", headers, isOperator: true } as const;
    const { text } = await persistently(line, () => list);
    const { Data } = JSON.parse(text) as { readonly Data: { readonly OrderHold: readonly OrderHold[] } };
    if (Data.OrderHold.length === 0) return;
    for (const { BankId, Disagreement = [] } of Data.OrderHold) {
      if (Disagreement.length > 0) {
        line.simulation.violated("a statement agrees with the store", JSON.stringify(Disagreement));
      }
      const path = `/operations/order-holds/${BankId}/${reconciles ? "reconcile" : "release"}`;
      const body = reconciles ? {} : { body: "The bank was asked by telephone." };
      await persistently(line, () => ({ method: "POST", path, headers, isOperator: true, ...body }));
    }
    await line.simulation.scheduler.sleep(PAUSE_MS);
  }
  line.simulation.violated("every hold ends", "the holds of a restore could not be ended");
}

/** Has the dead events of a client at a bank pushed again. */
export async function redriveEvents(line: Line, owner: string): Promise<void> {
  const path = `/operations/event-deliveries/${owner.replace(" ", "/")}/redrive`;
  await persistently(line, () => ({ method: "POST", path, headers, isOperator: true }));
}

/** Looks once, and has every order that was given up tried again. */
export async function redriveOrders(line: Line): Promise<void> {
  const list = {
    method: "GET",
    path: "/operations/payment-orders?state=dead",
    headers,
    isOperator: true,
  } as const;
  const { text } = await persistently(line, () => list);
  for (const { DomesticPaymentId: id } of (JSON.parse(text) as OpenOrders).Data.PaymentOrder) {
    const path = `/operations/payment-orders/${id}/redrive`;
    await persistently(line, () => ({ method: "POST", path, headers, isOperator: true }));
  }
}

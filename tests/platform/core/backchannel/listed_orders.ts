/** The orders that a bank lists. */
import type { PaymentOrders } from "testing/answers.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { good } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";

export const UNKNOWN = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

export async function listed(env: Environment, query = "", bank = env.bankA): Promise<PaymentOrders["Data"]> {
  return (await good<PaymentOrders>(bankCall(env, bank, orderPath(undefined, bank.orgId) + query), 200)).Data;
}

export function idsOf(data: PaymentOrders["Data"]): string[] {
  return data.PaymentOrder.map((order) => order.DomesticPaymentId);
}

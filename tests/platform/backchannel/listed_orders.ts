/** The orders that a bank lists. */
import { bankCall, orderPath } from "testing/back_channel.ts";
import { good, type Json } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";

export const UNKNOWN = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

export async function listed(env: Environment, query = "", bank = env.bankA): Promise<Json> {
  return (await good(bankCall(env, bank, orderPath(undefined, bank.orgId) + query), 200)).Data;
}

export function idsOf(data: Json): string[] {
  return data.PaymentOrder.map((order: Json) => order.DomesticPaymentId);
}

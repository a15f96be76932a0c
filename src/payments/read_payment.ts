/** Finds a payment for someone entitled to it; for anyone else it does not exist (Decision C2). */
import type { BankCode } from "../kernel/identifiers.ts";
import { asPaymentId } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { AccessToken } from "../security/access_token.ts";
import type { Entry } from "../store/store.ts";
import type { Payment } from "./payment.ts";
import type { PaymentStore } from "./payment_store.ts";

/**
 * The payment, with its version: its TPP's by a client's token, or by the token of its own consent.
 *
 * @throws {Refusal} `resource.not_found`, `token.insufficient_scope`
 */
export async function readPayment(
  deps: { readonly payments: PaymentStore },
  idText: unknown,
  by: { readonly bank: BankCode; readonly token: AccessToken },
): Promise<Entry<Payment>> {
  const id = asPaymentId(idText);
  const entry = id === undefined ? null : await deps.payments.find(id);
  if (entry === null || entry.value.bank !== by.bank || entry.value.clientId !== by.token.clientId) {
    throw new Refusal("resource.not_found");
  }
  if (by.token.consentId !== undefined && by.token.consentId !== entry.value.consentId) {
    throw new Refusal("token.insufficient_scope", { detail: "token of another consent", scope: "payments" });
  }
  return entry;
}

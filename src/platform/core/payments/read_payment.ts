/** Reads a payment for an entitled caller. For any other caller it does not exist (Decision C2). */
import { forParticipant } from "../../guards/security/standing.ts";
import { asPaymentId, type BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type ClaimStore, isIdempotencyKey } from "../../guards/idempotency/idempotent.ts";
import { type AccessToken, tokenOfAnotherConsent } from "../../guards/security/access_token.ts";
import { claimKey } from "../../config/store_keys.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import type { ConsentReader } from "../consents/read_consent.ts";
import type { Payment, ReadablePayment } from "./payment.ts";
import type { PaymentStore } from "./payment_store.ts";

/**
 * Returns the payment with its version. The TPP reads it with a token of the client credentials grant, or with the
 * token of its consent.
 *
 * @throws {ApiError} `resource.not_found`, `token.insufficient_scope`, `platform.unavailable` if its data key is lost
 */
export async function readPayment(
  deps: { readonly payments: PaymentStore },
  from: Reader,
  idText: unknown,
  by: { readonly bank: BankCode; readonly token: AccessToken },
): Promise<Entry<ReadablePayment>> {
  const entry = await findPayment(deps, from, idText, { bank: by.bank, clientId: by.token.clientId });
  if (entry === null) throw new ApiError("resource.not_found");
  const value = forParticipant(entry.value);
  if (by.token.consentId !== undefined && by.token.consentId !== entry.value.consentId) {
    throw tokenOfAnotherConsent();
  }
  return { ...entry, value };
}

/** Returns the payment as stored, or null if the owner has none with this id. */
export async function findPayment(
  { payments }: { readonly payments: Pick<PaymentStore, "find"> },
  from: Reader,
  idText: unknown,
  { bank, clientId }: Required<ConsentReader>,
): Promise<Entry<Payment> | null> {
  const id = asPaymentId(idText);
  const entry = id === undefined ? null : await payments.find(from, id);
  return entry?.value.bank === bank && entry.value.clientId === clientId ? entry : null;
}

/** Name of the payment route in idempotency claims. */
export const PAYMENT_CLAIMS = "domestic-payments";

/**
 * Returns the payment that the caller's idempotency key created within 24 h, for a TPP that has lost the response.
 *
 * @throws {ApiError} as {@link readPayment}
 */
export async function findByIdempotencyKey(
  deps: { readonly payments: PaymentStore; readonly claims: ClaimStore },
  from: Reader,
  key: string,
  by: { readonly bank: BankCode; readonly token: AccessToken },
): Promise<Entry<ReadablePayment>> {
  if (!isIdempotencyKey(key)) throw noPaymentWith();
  const where = claimKey(by.token.clientId, by.bank, PAYMENT_CLAIMS, key);
  const id = await deps.claims.resourceOf(from, where);
  if (id === null) throw noPaymentWith();
  return await readPayment(deps, from, id, by);
}

/** The client may send the payment again with this key. */
function noPaymentWith(): ApiError {
  const message = "Your client has made no payment with this key at this bank within 24 hours.";
  const fault = { code: "Resource.NotFound", message } as const;
  return new ApiError("resource.not_found", { faults: [fault] });
}

/** Members of stored values that many records have. */
import { z } from "zod";
import { asBankCode, asClientId, asConsentId, asPaymentId } from "../kernel/identifiers.ts";
import type { BankCode, ClientId, ConsentId, PaymentId } from "../kernel/identifiers.ts";

export const text = z.string();
export const texts = z.array(text);
export const flag = z.boolean();
export const count = z.number();
/** Milliseconds since the Unix epoch. */
export const instant = z.number();
export const bankCode = z.custom<BankCode>((value) => asBankCode(value) !== undefined);
export const clientId = z.custom<ClientId>((value) => asClientId(value) !== undefined);
export const consentId = z.custom<ConsentId>((value) => asConsentId(value) !== undefined);
export const paymentId = z.custom<PaymentId>((value) => asPaymentId(value) !== undefined);

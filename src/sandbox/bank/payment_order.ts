/**
 * Verifies an order that the platform pushes (Decision D4): a compact PS256 JWS of the platform whose payload is the
 * order. Executes no order.
 */
import { compactVerify, decodeProtectedHeader } from "jose";
import { z } from "zod";
import { EXPIRY_SKEW_SECONDS, SIGNATURE_ALG } from "../../client/party/profile.ts";
import type { BankClock } from "./bank_profile.ts";
import type { PlatformKeys } from "./platform_keys.ts";

/** A verified payment order. */
export interface PaymentOrder {
  /** Idempotency key of the execution. */
  readonly domesticPaymentId: string;
  readonly consentId: string | undefined;
  readonly amount: { readonly Amount: string; readonly Currency: string };
  readonly debtor: OrderAccount;
  readonly creditor: OrderAccount;
  /** The order as the platform signed it, if it was pushed: the platform can recover a lost payment from it. */
  readonly signed?: string;
}

/** The order is not an authentic order of the platform for this bank. The message is for the log. */
export class OrderRejected extends Error {
  override readonly name = "OrderRejected";
}

const compactJws = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/;

const accountSchema = z.object({ SchemeName: z.string().min(1), Identification: z.string().min(1) });
/** `Data` of an order, pushed or pulled. */
export const orderDataSchema = z.object({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.string().optional(),
  BankId: z.string().optional(),
  Initiation: z.object({
    InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
    CreditorAccount: accountSchema,
    DebtorAccount: accountSchema.optional(),
  }),
  /** The account that pays: selected during SCA, or the initiation's own. */
  DebtorAccount: accountSchema.optional(),
});
const orderSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  exp: z.int(),
  Data: orderDataSchema,
});

/** An account as an order names it. */
export type OrderAccount = z.infer<typeof accountSchema>;

export interface OpenOrderDeps {
  readonly authUrl: string;
  readonly bankCode: string;
  readonly platformKeys: PlatformKeys;
  readonly clock: BankClock;
}

/**
 * Verifies this JWS and returns its order.
 * @throws {OrderRejected} if it is not from the platform, not for this bank, expired, or not an order
 * @throws {Error} if the platform's key set cannot be read
 */
export async function openPaymentOrder(
  { authUrl, bankCode, platformKeys, clock }: OpenOrderDeps,
  token: string,
): Promise<PaymentOrder> {
  if (!compactJws.test(token)) throw new OrderRejected("not a compact JWS");
  const key = await platformKeys.signatureKey(kidOf(token));
  if (key === undefined) throw new OrderRejected("kid is not the platform's");
  const { Data, iss, aud, exp } = await verify(token, key);
  if (iss !== authUrl) throw new OrderRejected("iss is not the platform");
  if ((Data.BankId ?? bankCode) !== bankCode || aud !== bankCode) throw new OrderRejected("for another bank");
  if ((exp + EXPIRY_SKEW_SECONDS) * 1000 <= clock()) throw new OrderRejected("expired");
  return { ...orderOf(Data), signed: token };
}

/** Converts an order's `Data` to the bank's form. @throws {OrderRejected} if it names no account to pay from */
export function orderOf(data: z.infer<typeof orderDataSchema>): PaymentOrder {
  const debtor = data.DebtorAccount ?? data.Initiation.DebtorAccount;
  if (debtor === undefined) throw new OrderRejected("no debtor account");
  return {
    domesticPaymentId: data.DomesticPaymentId,
    consentId: data.ConsentId,
    amount: data.Initiation.InstructedAmount,
    debtor,
    creditor: data.Initiation.CreditorAccount,
  };
}

function kidOf(token: string): string {
  try {
    return z.string().min(1).parse(decodeProtectedHeader(token).kid);
  } catch {
    throw new OrderRejected("no kid");
  }
}

async function verify(token: string, key: CryptoKey): Promise<z.infer<typeof orderSchema>> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [SIGNATURE_ALG] });
    return orderSchema.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload)));
  } catch (error) {
    throw new OrderRejected(error instanceof Error ? error.name : "unknown");
  }
}

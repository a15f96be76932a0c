/**
 * Verifies an order that the platform pushes (Decision D4): a compact PS256 JWS of the platform whose payload is the
 * order. Executes no order.
 */
import { compactVerify, decodeProtectedHeader } from "jose";
import * as z from "zod/mini";
import { EXPIRY_SKEW_SECONDS, SIGNATURE_ALG } from "../party/profile.ts";
import type { Bank } from "./bank.ts";
import type { OrderedInitiation, PayingAccount } from "./initiation.ts";
import { initiationSchema, payingAccountSchema } from "./initiation_schema.ts";

/** A verified payment order. */
export interface PaymentOrder {
  /** Idempotency key of the execution. */
  readonly domesticPaymentId: string;
  readonly consentId: string | undefined;
  /** What the TPP ordered and the customer authorised. */
  readonly initiation: OrderedInitiation;
  /** The account that pays: chosen at the bank, or the one that the TPP named. */
  readonly debtor: PayingAccount;
  /** The order as the platform signed it, if it was pushed: the platform can recover a lost payment from it. */
  readonly signed?: string;
}

/** The order is not an authentic order of the platform for this bank. The message is for the log. */
export class OrderRejected extends Error {
  override readonly name = "OrderRejected";
}

const compactJws = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/;

const nonEmpty = z.string().check(z.minLength(1));
/** `Data` of an order, pushed or pulled. */
const orderDataSchema = z.object({
  DomesticPaymentId: z.uuid(),
  ConsentId: z.optional(z.string()),
  BankId: z.optional(z.string()),
  Initiation: initiationSchema,
  DebtorAccount: z.optional(payingAccountSchema),
});
const orderSchema = z.object({ iss: z.string(), aud: z.string(), exp: z.int(), Data: orderDataSchema });

/**
 * Verifies this JWS and returns its order.
 * @throws {OrderRejected} if it is not from the platform, not for this bank, expired, or not an order
 * @throws {Error} if the platform's key set cannot be read
 */
export async function openPaymentOrder(
  { authUrl, code, platformKeys, now }: Pick<Bank, "authUrl" | "code" | "platformKeys" | "now">,
  token: string,
): Promise<PaymentOrder> {
  if (!compactJws.test(token)) throw new OrderRejected("not a compact JWS");
  const key = await platformKeys.signatureKey(kidOf(token));
  if (key === undefined) throw new OrderRejected("kid is not the platform's");
  const { Data, iss, aud, exp } = await verify(token, key);
  if (iss !== authUrl) throw new OrderRejected("iss is not the platform");
  if ((Data.BankId ?? code) !== code || aud !== code) throw new OrderRejected("for another bank");
  if ((exp + EXPIRY_SKEW_SECONDS) * 1000 <= now()) throw new OrderRejected("expired");
  return { ...orderOf(Data), signed: token };
}

const pulledSchema = z.extend(orderDataSchema, { Status: z.string() });

/** An order of a page that the platform listed, and its status there. @throws {Error} if it is not an order */
export function openPulledOrder(listed: unknown): { readonly order: PaymentOrder; readonly status: string } {
  const data = pulledSchema.parse(listed);
  return { order: orderOf(data), status: data.Status };
}

/** Converts an order's `Data` to the bank's form. @throws {OrderRejected} if it names no account to pay from */
function orderOf(data: z.infer<typeof orderDataSchema>): PaymentOrder {
  const debtor = data.DebtorAccount ?? data.Initiation.DebtorAccount;
  if (debtor === undefined) throw new OrderRejected("no debtor account");
  return {
    domesticPaymentId: data.DomesticPaymentId,
    consentId: data.ConsentId,
    initiation: data.Initiation,
    debtor,
  };
}

function kidOf(token: string): string {
  try {
    return nonEmpty.parse(decodeProtectedHeader(token).kid);
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

/**
 * Recovers a payment from an order that the platform signed and lost, and that its bank returns. The platform's own
 * signature proves the order's content, TPP and time (Decision G9).
 */
import { z } from "zod";
import type { Initiation } from "../consents/initiation.ts";
import { fromWire, type OnWire } from "../http/wire_names.ts";
import type { Account } from "../../base/values/account.ts";
import { instantOf } from "../../base/kernel/date_time.ts";
import { asClientId, asConsentId, asPaymentId, type BankCode } from "../../base/kernel/identifiers.ts";
import {
  because,
  failed,
  faultText,
  mismatch,
  ok,
  type Reason,
  type Result,
} from "../../base/kernel/result.ts";
import type { JsonObject, UnverifiedJws } from "../../base/jose/compact_jws.ts";
import { importRsaPublicKey, readRsaPublicJwk } from "../../base/jose/rsa_key.ts";
import { type Signer, verifyJwt } from "../../base/jose/verify_jwt.ts";
import type { Payment } from "../payments/payment.ts";
import { MAX_BODY_BYTES } from "../../base/limits.ts";

/** The platform's published public keys. */
export type OwnKeys = readonly JsonObject[];

/** A payment as it was ordered, without its later status. */
export type OrderedPayment = Omit<Payment, "status" | "statusReason" | "statusUpdatedAt" | "charges">;

const claimsSchema = z.object({
  aud: z.string(),
  tpp: z.object({ client_id: z.string(), read_refund_account: z.boolean() }),
  Data: z.object({
    DomesticPaymentId: z.string(),
    ConsentId: z.string(),
    CreationDateTime: z.string(),
    // The platform had decoded these before it signed them.
    Initiation: z.custom<OnWire<Initiation>>(isObject),
    DebtorAccount: z.custom<OnWire<Account>>(isObject),
  }),
});
type OrderClaims = z.infer<typeof claimsSchema>;

/** Returns the payment of this order, or why it is not an order of the platform for this bank. */
export async function openOwnOrder(
  keys: OwnKeys,
  bank: BankCode,
  text: string,
): Promise<Result<OrderedPayment, Reason>> {
  const order = await verifyJwt(text, {
    maxCharacters: MAX_BODY_BYTES,
    typ: ["JWT"],
    findKey: (jws) => ownKey(keys, jws),
    claims: decodeOrder,
    times: "unchecked", // the order has expired, but its signature still counts
  });
  if (!order.ok) return "why" in order.fault ? failed(order.fault) : because(faultText(order.fault));
  const { claims } = order.value;
  return claims.aud === bank ? orderedPayment(bank, claims) : because("an order for another bank");
}

async function ownKey(keys: OwnKeys, { header }: UnverifiedJws): Promise<Result<Signer, Reason>> {
  const published = keys.find(({ kid, use }) => use === "sig" && kid === header["kid"]);
  const jwk = readRsaPublicJwk(published);
  return jwk.ok
    ? ok({ key: await importRsaPublicKey(jwk.value, "verify") })
    : because("kid does not name a signing key that the platform publishes");
}

function decodeOrder(claims: JsonObject): Result<OrderClaims> {
  const decoded = claimsSchema.safeParse(claims);
  return decoded.success ? ok(decoded.data) : mismatch("claims", "a payment order that names its TPP");
}

function orderedPayment(
  bank: BankCode,
  { tpp, Data }: OrderClaims,
): Result<OrderedPayment, Reason> {
  const [id, consentId] = [asPaymentId(Data.DomesticPaymentId), asConsentId(Data.ConsentId)];
  const [clientId, createdAt] = [asClientId(tpp.client_id), instantOf(Data.CreationDateTime)];
  if (id === undefined || consentId === undefined || clientId === undefined || createdAt === undefined) {
    return because("an id or time in the order is malformed");
  }
  return ok({
    id,
    consentId,
    clientId,
    bank,
    initiation: fromWire(Data.Initiation),
    debtorAccount: fromWire(Data.DebtorAccount),
    readRefundAccount: tpp.read_refund_account,
    createdAt,
  });
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

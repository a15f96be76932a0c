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
import { no, type Verdict, yes } from "../../base/kernel/verdict.ts";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import { readCompactJws, verifyClaims } from "../../base/jose/compact_jws.ts";
import { importRsaPublicKey, readRsaPublicJwk } from "../../base/jose/rsa_key.ts";
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

/** Returns the payment of this order, or why it is not an order of the platform for this bank. */
export async function openOwnOrder(
  keys: OwnKeys,
  bank: BankCode,
  text: string,
): Promise<Verdict<OrderedPayment>> {
  const jws = readCompactJws(text, { maxCharacters: MAX_BODY_BYTES, typ: ["JWT"] });
  if (!jws.ok) return jws;
  const published = keys.find(({ kid, use }) => use === "sig" && kid === jws.value.header["kid"]);
  const jwk = readRsaPublicJwk(published);
  if (!jwk.ok) return no("kid does not name a signing key that the platform publishes");
  const claims = await verifyClaims(jws.value, await importRsaPublicKey(jwk.value, "verify"));
  if (!claims.ok) return claims;
  const decoded = claimsSchema.safeParse(claims.value); // the order has expired, but its signature still counts
  if (!decoded.success) return no("not a payment order that names its TPP");
  return decoded.data.aud === bank ? orderedPayment(bank, decoded.data) : no("an order for another bank");
}

function orderedPayment(
  bank: BankCode,
  { tpp, Data }: z.infer<typeof claimsSchema>,
): Verdict<OrderedPayment> {
  const [id, consentId] = [asPaymentId(Data.DomesticPaymentId), asConsentId(Data.ConsentId)];
  const [clientId, createdAt] = [asClientId(tpp.client_id), instantOf(Data.CreationDateTime)];
  if (id === undefined || consentId === undefined || clientId === undefined || createdAt === undefined) {
    return no("an id or time in the order is malformed");
  }
  return yes({
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

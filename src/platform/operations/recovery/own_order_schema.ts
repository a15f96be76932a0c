/** The claims of a payment order that the platform signed, and the payment that they state. */
import { z } from "zod";
import type { Recorded } from "../../evidence/audit_trail.ts";
import type { Initiation } from "../../core/consents/initiation.ts";
import { fromWire, type OnWire } from "../../guards/http/wire_fields.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import { asClientId, asConsentId, asPaymentId, type BankCode } from "../../../base/kernel/identifiers.ts";
import { because, mismatch, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import type { PayingAccount, Payment, Said } from "../../core/payments/payment.ts";

/** Members that a payment gets after its order was signed. */
type LaterMember =
  | "status"
  | "statusUpdatedAt"
  | "charges"
  | "closedAt"
  | "personalData"
  | keyof Said
  | keyof Recorded;

/** A payment as it was ordered, without its later status. A restore gives each of its members back. */
export type OrderedPayment = { readonly [Member in Exclude<keyof Payment, LaterMember>]-?: Payment[Member] };

const claimsSchema = z.object({
  aud: z.string(),
  tpp: z.object({ client_id: z.string(), read_refund_account: z.boolean() }),
  Data: z.object({
    DomesticPaymentId: z.string(),
    ConsentId: z.string(),
    CreationDateTime: z.string(),
    // The platform had decoded these before it signed them.
    Initiation: z.custom<OnWire<Initiation>>(isObject),
    DebtorAccount: z.custom<OnWire<PayingAccount>>(isObject),
  }),
});
type OrderClaims = z.infer<typeof claimsSchema>;

export function decodeOrder(claims: JsonObject): Result<OrderClaims> {
  const decoded = claimsSchema.safeParse(claims);
  return decoded.success ? ok(decoded.data) : mismatch("claims", "a payment order that names its TPP");
}

/** Returns the payment of the order, or which of its parts is malformed. */
export function orderedPayment(bank: BankCode, { tpp, Data }: OrderClaims): Result<OrderedPayment, Reason> {
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

/**
 * Recovers a payment from an order that the platform signed and lost, and that its bank returns. The platform's own
 * signature proves the order's content, TPP and time (Decision G9).
 */
import {
  asClientId,
  asConsentId,
  asPaymentId,
  type BankCode,
  type PaymentId,
} from "../../../base/kernel/identifiers.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import {
  because,
  failed,
  faultText,
  mismatch,
  ok,
  type Reason,
  type Result,
} from "../../../base/kernel/result.ts";
import type { JsonObject, UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import { importRsaPublicKey, readRsaPublicJwk } from "../../../base/jose/rsa_key.ts";
import { verifyJwt } from "../../../base/jose/verify_jwt.ts";
import type { Store } from "../../../base/store/store.ts";
import { historyOf, type Recorded } from "../../evidence/audit_trail.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { documentAt, documentOfKey, rememberPublished } from "../../evidence/evidence_store.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { z } from "zod";
import type { Initiation } from "../../core/consents/initiation.ts";
import { fromWire, type OnWire } from "../../guards/http/wire_fields.ts";
import { instantOf } from "../../../base/kernel/date_time.ts";
import type { PayingAccount, Payment, Said } from "../../core/payments/payment.ts";

/** Public keys of the platform. */
export type OwnKeys = readonly JsonObject[];

/** A verified order of the platform. */
export interface OwnOrder {
  readonly payment: OrderedPayment;
  readonly evidence: Evidence;
}

/** Returns the keys with which the payment's orders were signed, by its history. They may not be published any more. */
export async function orderKeysOf(store: Store, payment: PaymentId): Promise<OwnKeys> {
  const items = (await historyOf(store, payment)).flatMap(({ items = [] }) => items);
  const documents = new Set(items.flatMap(({ kind, key }) => kind === "order" ? key ?? [] : []));
  const texts = await Promise.all([...documents].map((document) => documentAt(store, document)));
  return texts.flatMap((text) => {
    const jwk = strictJson(text ?? "");
    return jwk.ok ? [jwk.value as JsonObject] : [];
  });
}

/**
 * Returns the payment of this order, or why it is not an order of the platform for this bank.
 *
 * @param published the keys that the platform publishes
 * @param former returns others of its keys, if none of these signed the order
 */
export async function openOwnOrder(
  published: OwnKeys,
  bank: BankCode,
  text: string,
  former: () => Promise<OwnKeys> = () => Promise.resolve([]),
): Promise<Result<OwnOrder, Reason>> {
  let signedBy: CryptoKey | undefined;
  const order = await verifyJwt(text, {
    maxCharacters: MAX_BODY_BYTES,
    typ: ["JWT"],
    async findKey(jws) {
      signedBy = await ownKey(jws, published) ?? await ownKey(jws, await former());
      return signedBy === undefined
        ? because("kid does not name a signing key that the platform publishes")
        : ok({ key: signedBy });
    },
    claims: decodeOrder,
    times: "unchecked", // the order has expired, but its signature still counts
  });
  if (!order.ok) return "why" in order.fault ? failed(order.fault) : because(faultText(order.fault));
  const { claims } = order.value;
  if (claims.aud !== bank) return because("an order for another bank");
  const payment = orderedPayment(bank, claims);
  if (!payment.ok) return payment;
  const key = signedBy === undefined ? undefined : documentOfKey(signedBy);
  const evidence: Evidence = { kind: "order", bytes: new TextEncoder().encode(text), key };
  return ok({ payment: payment.value, evidence });
}

async function ownKey({ header }: UnverifiedJws, keys: OwnKeys): Promise<CryptoKey | undefined> {
  const named = keys.find(({ kid, use }) => use === "sig" && kid === header["kid"]);
  const jwk = readRsaPublicJwk(named);
  if (named === undefined || !jwk.ok) return undefined;
  const key = await importRsaPublicKey(jwk.value, "verify");
  rememberPublished(key, named);
  return key;
}

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

function decodeOrder(claims: JsonObject): Result<OrderClaims> {
  const decoded = claimsSchema.safeParse(claims);
  return decoded.success ? ok(decoded.data) : mismatch("claims", "a payment order that names its TPP");
}

/** Returns the payment of the order, or which of its parts is malformed. */
function orderedPayment(bank: BankCode, { tpp, Data }: OrderClaims): Result<OrderedPayment, Reason> {
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

/**
 * Recovers a payment from an order that the platform signed and lost, and that its bank returns. The platform's own
 * signature proves the order's content, TPP and time (Decision G9).
 */
import type { BankCode, PaymentId } from "../../../base/kernel/identifiers.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import { because, failed, faultText, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { JsonObject, UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import { importRsaPublicKey, readRsaPublicJwk } from "../../../base/jose/rsa_key.ts";
import { verifyJwt } from "../../../base/jose/verify_jwt.ts";
import type { Store } from "../../../base/store/store.ts";
import { historyOf } from "../../evidence/audit_trail.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { documentAt, documentOfKey, rememberPublished } from "../../evidence/evidence_store.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { decodeOrder, type OrderedPayment, orderedPayment } from "./own_order_schema.ts";

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

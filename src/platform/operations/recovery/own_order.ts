/**
 * Recovers a payment from an order that the platform signed and lost, and that its bank returns. The platform's own
 * signature proves the order's content, TPP and time (Decision G9).
 */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { because, failed, faultText, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { JsonObject, UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import { importRsaPublicKey, readRsaPublicJwk } from "../../../base/jose/rsa_key.ts";
import { type Signer, verifyJwt } from "../../../base/jose/verify_jwt.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { documentOfKey, rememberPublished } from "../../evidence/evidence_store.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { decodeOrder, type OrderedPayment, orderedPayment } from "./own_order_schema.ts";

/** The platform's published public keys. */
export type OwnKeys = readonly JsonObject[];

/** A verified order of the platform. */
export interface OwnOrder {
  readonly payment: OrderedPayment;
  readonly evidence: Evidence;
}

/** Returns the payment of this order, or why it is not an order of the platform for this bank. */
export async function openOwnOrder(
  keys: OwnKeys,
  bank: BankCode,
  text: string,
): Promise<Result<OwnOrder, Reason>> {
  let signedBy: CryptoKey | undefined;
  const order = await verifyJwt(text, {
    maxCharacters: MAX_BODY_BYTES,
    typ: ["JWT"],
    async findKey(jws) {
      const signer = await ownKey(keys, jws);
      if (signer.ok) signedBy = signer.value.key;
      return signer;
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

async function ownKey(keys: OwnKeys, { header }: UnverifiedJws): Promise<Result<Signer, Reason>> {
  const published = keys.find(({ kid, use }) => use === "sig" && kid === header["kid"]);
  const jwk = readRsaPublicJwk(published);
  if (published === undefined || !jwk.ok) {
    return because("kid does not name a signing key that the platform publishes");
  }
  const key = await importRsaPublicKey(jwk.value, "verify");
  rememberPublished(key, published);
  return ok({ key });
}

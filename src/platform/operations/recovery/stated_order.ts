/**
 * A bank's statement as it is kept: without its orders and reasons, which are personal data. Each case that it changes has
 * the statement's entry for its payment as evidence (contract EN16). No I/O.
 */
import canonicalize from "canonicalize";
import { digest } from "../../evidence/digest.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { StatedOrder } from "./order_statement_schema.ts";

const UTF8 = new TextEncoder();

/** Members that have no personal data when orders and reasons are replaced. */
const CLAIMS = ["iss", "aud", "iat", "nbf", "exp", "jti", "Data"];
const PAGE = ["Since", "After", "Next", "PaymentOrder"];
const ORDER = ["DomesticPaymentId", "ConsentId", "Status", "StatusUpdateDateTime", "StatusReason", "Order"];

const REASON_REMOVED = '"StatusReason":"removed"';

/**
 * Returns the bytes to keep of a verified statement: its parts, with the SHA-256 of each order in place of the order, and
 * without the texts of reasons. With these, which their cases have, the statement is complete again and its signature
 * verifies. A payload that spells them otherwise than they are found, or that has members of the bank's own, is left out.
 *
 * @param text a compact JWS
 * @param sha256 of the text, base64url
 */
export function withoutOrders(
  text: string,
  sha256: string,
  orders: readonly StatedOrder[],
): Uint8Array<ArrayBuffer> {
  const [header = "", encoded = "", signature = ""] = text.split(".");
  const payload = redacted(
    new TextDecoder().decode(Uint8Array.fromBase64(encoded, { alphabet: "base64url" })),
    orders,
  );
  const kept = payload === undefined ? {} : { payload };
  return UTF8.encode(canonicalize({ sha256, protected: header, signature, ...kept }));
}

function redacted(payload: string, orders: readonly StatedOrder[]): string | undefined {
  const hidden = new Map<string, string>();
  for (const { order, statusReason } of orders) {
    if (order !== undefined) hidden.set(`"${order}"`, `"sha256:${digest(order)}"`);
    if (statusReason !== undefined) {
      hidden.set(`"StatusReason":${JSON.stringify(statusReason)}`, REASON_REMOVED);
    }
  }
  let text = payload;
  for (const [part, instead] of hidden) {
    if (!payload.includes(part)) return undefined;
    text = text.replaceAll(part, () => instead);
  }
  const claims = JSON.parse(text) as { readonly Data: { readonly PaymentOrder: readonly object[] } };
  const { Data } = claims;
  const isKnown = hasOnly(claims, CLAIMS) && hasOnly(Data, PAGE) &&
    Data.PaymentOrder.every((order) => hasOnly(order, ORDER));
  return isKnown ? text : undefined;
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

/** Returns what a statement says about a payment, as evidence of its case. */
export function statedEvidence(stated: StatedOrder, statement: string): Evidence {
  const { paymentId, consentId, status, statusUpdatedAt, statusReason, statedAt } = stated;
  const content = {
    statement,
    iat: statedAt / 1000,
    order: {
      DomesticPaymentId: paymentId,
      ConsentId: consentId,
      Status: status,
      StatusUpdateDateTime: new Date(statusUpdatedAt).toISOString(),
      ...(statusReason === undefined ? {} : { StatusReason: statusReason }),
    },
  };
  return { kind: "stated_order", bytes: UTF8.encode(canonicalize(content)) };
}

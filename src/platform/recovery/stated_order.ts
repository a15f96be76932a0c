/**
 * What is kept of a bank's statement: the statement without the orders and the reasons that it brings, which are personal
 * data, and in each case that it changes what it says about this case's payment (contract EN16). No I/O.
 */
import canonicalize from "canonicalize";
import { digest } from "../evidence/digest.ts";
import type { Evidence } from "../evidence/evidence.ts";
import type { StatedOrder } from "./order_statement_schema.ts";

const UTF8 = new TextEncoder();

/** Members that have no personal data. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  claims: ["iss", "aud", "iat", "nbf", "exp", "jti", "Data"],
  page: ["Since", "After", "Next", "PaymentOrder"],
  order: ["DomesticPaymentId", "ConsentId", "Status", "StatusUpdateDateTime", "StatusReason", "Order"],
};

const REASON_REMOVED = '"StatusReason":"removed"';

/** Returns the SHA-256 of a statement, base64url. @param text a compact JWS */
export const statementDigest = (text: string): string => digest(text);

/**
 * Returns the bytes to keep of a verified statement: its parts, with the SHA-256 of each order in place of the order, and
 * without the texts of reasons. With these, which their cases have, the statement is complete again and its signature
 * verifies. A payload that spells them otherwise than they are found, or that has members of the bank's own, is left out.
 */
export function withoutOrders(text: string, orders: readonly StatedOrder[]): Uint8Array<ArrayBuffer> {
  const [header = "", encoded = "", signature = ""] = text.split(".");
  const payload = redacted(
    new TextDecoder().decode(Uint8Array.fromBase64(encoded, { alphabet: "base64url" })),
    orders,
  );
  const kept = payload === undefined ? {} : { payload };
  return UTF8.encode(canonicalize({ sha256: statementDigest(text), protected: header, signature, ...kept }));
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
  const isKnown = (value: object, as: string): boolean =>
    Object.keys(value).every((name) => KNOWN[as]?.includes(name));
  const { Data } = claims;
  const all = isKnown(claims, "claims") && isKnown(Data, "page") &&
    Data.PaymentOrder.every((order) => isKnown(order, "order"));
  return all ? text : undefined;
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

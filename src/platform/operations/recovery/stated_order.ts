/**
 * A bank's statement as it is kept: without its orders and reasons, which are personal data. Each case that it changes has
 * the statement's entry for its payment as evidence (contract EN16). No I/O.
 */
import canonicalize from "canonicalize";
import { digest } from "../../evidence/digest.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { MAX_EVIDENCE_BYTES } from "../../evidence/evidence_store.ts";
import { KEPT_WORD } from "../../core/payments/bank_word_schema.ts";
import type { OrderMember, PageMember, StatedOrder } from "./order_statement_schema.ts";

const UTF8 = new TextEncoder();

const CLAIMS = ["iss", "aud", "iat", "nbf", "exp", "jti", "Data"];

/** How each member is kept. The compiler asks for each member of the schema. */
const PAGE: Readonly<Record<PageMember, "kept">> = {
  Since: "kept",
  After: "kept",
  Next: "kept",
  PaymentOrder: "kept",
};
const ORDER: Readonly<Record<OrderMember, "kept" | "removed" | "digest">> = {
  DomesticPaymentId: "kept",
  ConsentId: "kept",
  Status: "kept",
  StatusUpdateDateTime: "kept",
  ...KEPT_WORD,
  Order: "digest",
};

/**
 * Returns the bytes to keep of a verified statement: its parts, with the SHA-256 of each order in place of the order, and
 * without the texts of reasons. With these, which their cases have, the statement is complete again and its signature
 * verifies. A payload that spells them otherwise than they are found, that has members of the bank's own, or that is too
 * large because of what JSON escapes in it, is left out.
 *
 * @param text a compact JWS
 * @param sha256 of the text, base64url
 */
export function withoutOrders(text: string, sha256: string): Uint8Array<ArrayBuffer> {
  const [header = "", encoded = "", signature = ""] = text.split(".");
  const payload = redactPayload(
    new TextDecoder().decode(Uint8Array.fromBase64(encoded, { alphabet: "base64url" })),
  );
  const kept = { sha256, protected: header, signature };
  const whole = payload === undefined ? undefined : UTF8.encode(canonicalize({ ...kept, payload }));
  return whole !== undefined && whole.length <= MAX_EVIDENCE_BYTES ? whole : UTF8.encode(canonicalize(kept));
}

function redactPayload(payload: string): string | undefined {
  const claims = JSON.parse(payload) as {
    readonly Data: { readonly PaymentOrder: readonly Readonly<Record<string, unknown>>[] };
  };
  const { Data } = claims;
  const isKnown = hasOnly(claims, CLAIMS) && hasOnly(Data, Object.keys(PAGE)) &&
    Data.PaymentOrder.every((order) => hasOnly(order, Object.keys(ORDER)));
  if (!isKnown) return undefined;
  let text = payload;
  for (const [part, instead] of new Map(Data.PaymentOrder.flatMap(hiddenOf))) {
    if (!payload.includes(part)) return undefined;
    text = text.replaceAll(part, () => instead);
  }
  return text;
}

/** Returns the texts to hide of an order, and what stands in their place. */
function hiddenOf(order: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return Object.entries(ORDER).flatMap(([name, treatment]): [string, string][] => {
    const value = order[name];
    if (value === undefined || treatment === "kept") return [];
    const text = JSON.stringify(value);
    return treatment === "digest"
      ? [[text, `"sha256:${digest(String(value))}"`]]
      : [[`"${name}":${text}`, `"${name}":"removed"`]];
  });
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

/** Returns what a statement says about a payment, as evidence of its case. */
export function statedEvidence({ statedAt, wire }: StatedOrder, statement: string): Evidence {
  const content = { statement, iat: statedAt / 1000, order: wire };
  return { kind: "stated_order", bytes: UTF8.encode(canonicalize(content)) };
}

/** A payment's id in messages of ISO 20022, whose ids have at most 35 characters: a UUID without its hyphens. */
import { UnreadableMessage } from "./xml.ts";

const COMPACT = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

export function compactId(paymentId: string): string {
  return paymentId.replaceAll("-", "");
}

/** @throws {UnreadableMessage} if it is not the id of an order */
export function paymentIdOf(id: string | undefined): string {
  const parts = COMPACT.exec(id ?? "");
  if (parts === null) {
    throw new UnreadableMessage("expected a DomesticPaymentId without hyphens as payment id");
  }
  return parts.slice(1).join("-").toLowerCase();
}

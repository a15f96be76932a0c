/**
 * Finds consents and payments by what support reads in a TPP's message: the end-to-end id and the idempotency key. The
 * key of an entry has a hash, so that no text of a customer stands in it.
 */
import { z } from "zod";
import { defineRecord } from "../../base/store/record.ts";
import { text } from "../../base/store/record_fields.ts";
import type { Store } from "../../base/store/store.ts";
import { remove, type Transaction } from "../../base/store/transaction.ts";
import { digest } from "../evidence/digest.ts";
import { lookupKey } from "../store_keys.ts";

export const LOOKUP_KINDS = ["end-to-end id", "idempotency key"] as const;
/** One of {@link LOOKUP_KINDS}. */
export type LookupKind = typeof LOOKUP_KINDS[number];

/** A payer may dispute a payment for 13 months (Directive (EU) 2015/2366 art. 71). */
const KEEP_MS = 400 * 86_400_000;

export const lookupRecord = defineRecord<{ readonly resourceId: string }>({
  name: "lookup",
  keyParts: ["SHA-256 of kind and value", "consent id or payment id"],
  what: "A consent or payment by its end-to-end id, or by the idempotency key that created it.",
  schema: z.looseObject({ resourceId: text }),
  version: 1,
  lifetime: "400 days. An end-to-end id: no longer than the consent's personal data.",
  personalData: "pseudonymous",
  retention: "protocol",
});

/** Stages an entry. @param now milliseconds */
export function stageLookup(
  tx: Pick<Transaction, "writes">,
  kind: LookupKind,
  value: string,
  resourceId: string,
  now: number,
): void {
  lookupRecord.set(tx, lookupKey(hashOf(kind, value), resourceId), { resourceId }, now + KEEP_MS);
}

export function stageLookupGone(tx: Transaction, kind: LookupKind, value: string, resourceId: string): void {
  remove(tx, lookupKey(hashOf(kind, value), resourceId));
}

/** Returns at most `limit` ids of consents and payments with this value. */
export async function lookedUp(
  store: Store,
  kind: LookupKind,
  value: string,
  limit: number,
): Promise<readonly string[]> {
  const entries = await store.list({ prefix: lookupKey(hashOf(kind, value)), limit });
  return entries.map((entry) => lookupRecord.decode(entry).value.resourceId);
}

function hashOf(kind: LookupKind, value: string): string {
  return digest(kind, "\0", value);
}

/**
 * Finds consents and payments by what support reads in a TPP's message: the end-to-end id and the idempotency key. The
 * key of an entry has a hash, so that no text of a customer stands in it.
 */
import { z } from "zod";
import { defineRecord } from "../../../base/store/record.ts";
import { text } from "../../../base/store/record_fields.ts";
import { firstOfGroups } from "../../../base/store/first_of_groups.ts";
import type { Key, Store } from "../../../base/store/store.ts";
import { remove, type Transaction } from "../../../base/store/transaction.ts";
import { digest } from "../../evidence/digest.ts";
import { lookupKey, newestFirstPart } from "../../config/store_keys.ts";

export const LOOKUP_KINDS = ["end-to-end id", "idempotency key"] as const;
/** One of {@link LOOKUP_KINDS}. */
export type LookupKind = typeof LOOKUP_KINDS[number];

/** A payer may dispute a payment for 13 months (Directive (EU) 2015/2366 art. 71). */
const KEEP_MS = 400 * 86_400_000;

export const lookupRecord = defineRecord<{ readonly resourceId: string }>({
  name: "lookup",
  keyParts: [
    "SHA-256 of kind and value",
    "client id of the TPP",
    "bank code",
    "time (newest first)",
    "consent id or payment id",
  ],
  what: "A consent or payment by its end-to-end id, or by the idempotency key that created it.",
  schema: z.looseObject({ resourceId: text }),
  version: 1,
  lifetime: "400 days. An end-to-end id: no longer than the consent's personal data.",
  personalData: "pseudonymous",
  retention: "protocol",
});

/** The consent or payment of an entry. */
export interface LookedUp {
  /** Id of a consent or payment. */
  readonly id: string;
  /** The TPP that created it. */
  readonly clientId: string;
  readonly bank: string;
  /** When it was created, milliseconds. */
  readonly createdAt: number;
}

/** Stages an entry. */
export function stageLookup(
  tx: Pick<Transaction, "writes">,
  kind: LookupKind,
  value: string,
  to: LookedUp,
): void {
  lookupRecord.set(tx, keyOf(kind, value, to), { resourceId: to.id }, to.createdAt + KEEP_MS);
}

export function stageLookupGone(tx: Transaction, kind: LookupKind, value: string, to: LookedUp): void {
  remove(tx, keyOf(kind, value, to));
}

/**
 * Returns the ids of consents and payments with this value, the newest ones of each TPP at each bank, so that none of
 * them displaces those of another one.
 *
 * @param limit of each TPP at each bank
 * @param isShown whether those of this TPP at this bank may be found
 */
export async function lookedUp(
  store: Store,
  kind: LookupKind,
  value: string,
  limit: number,
  isShown: (of: Pick<LookedUp, "clientId" | "bank">) => boolean,
): Promise<{ readonly ids: readonly string[]; readonly isComplete: boolean }> {
  const { entries, isComplete } = await firstOfGroups(store, {
    prefix: lookupKey(hashOf(kind, value)),
    parts: 2,
    perGroup: limit,
    maxGroups: MAX_GROUPS,
    isWanted: ([, , clientId = "", bank = ""]) => isShown({ clientId, bank }),
  });
  return { ids: entries.map((entry) => lookupRecord.decode(entry).value.resourceId), isComplete };
}

/** Pairs of a TPP and a bank that a search looks at. */
const MAX_GROUPS = 500;

function keyOf(kind: LookupKind, value: string, { clientId, bank, createdAt, id }: LookedUp): Key {
  return lookupKey(hashOf(kind, value), clientId, bank, newestFirstPart(createdAt), id);
}

function hashOf(kind: LookupKind, value: string): string {
  return digest(kind, "\0", value);
}

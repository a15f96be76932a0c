/**
 * Finds consents and payments by what support reads in a TPP's message, the end-to-end id and the idempotency key, and
 * lists them by time. The key of a lookup entry has a hash, so that no text of a customer stands in it.
 */
import { z } from "zod";
import { defineRecord, optional, text } from "../../../base/store/record.ts";
import { firstOfGroups } from "../../../base/store/first_of_groups.ts";
import type { Entry, Key, Store } from "../../../base/store/store.ts";
import { remove, type Transaction } from "../../../base/store/transaction.ts";
import { digest } from "../../evidence/digest.ts";
import { listedKey, listedPlace, lookupKey, newestFirstPart } from "../../config/store_keys.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";

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
  restore: "kept",
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
  lookupRecord.set(tx, keyOfLookup(kind, value, to), { resourceId: to.id }, to.createdAt + KEEP_MS);
}

export function stageLookupGone(tx: Transaction, kind: LookupKind, value: string, to: LookedUp): void {
  remove(tx, keyOfLookup(kind, value, to));
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

function keyOfLookup(kind: LookupKind, value: string, { clientId, bank, createdAt, id }: LookedUp): Key {
  return lookupKey(hashOf(kind, value), clientId, bank, newestFirstPart(createdAt), id);
}

function hashOf(kind: LookupKind, value: string): string {
  return digest(kind, "\0", value);
}

// Lists consents and payments by bank, TPP and time of creation. An entry is written in the commit of its consent or
// payment, under a key of its own, so that parallel creations do not wait for each other. It ends when the personal data
// of its case is deleted: the case does not exist for participants any more.

export type ListedKind = "consent" | "payment";

/** The consents or the payments of one TPP at one bank. */
export interface ListOf {
  readonly kind: ListedKind;
  readonly bank: BankCode;
  readonly clientId: ClientId;
}

/** A range of creation times, milliseconds: from the first one, and before the second one. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** An entry of a list. */
export interface Listed {
  readonly bank: string;
  readonly clientId: string;
  /** Of the consent or the payment. */
  readonly id: string;
  readonly createdAt: number;
  /** The amount and its currency, such as `49.90 EUR`. Only of a consent. */
  readonly amount: string | undefined;
  /** Its position in its list. */
  readonly place: string;
}

/** An entry of a list: a consent or a payment. */
interface Made {
  readonly id: string;
  readonly bank: BankCode;
  readonly clientId: ClientId;
  /** Milliseconds. */
  readonly createdAt: number;
}

export const listedRecord = defineRecord<{ readonly amount?: string }>({
  name: "listed",
  keyParts: [
    "`consent` or `payment`",
    "bank code",
    "client id",
    "time of creation (ms), consent id or payment id",
  ],
  what: "A consent or payment by bank, TPP and time of creation. Of a consent: its amount.",
  schema: z.looseObject({ amount: optional(text) }),
  version: 1,
  lifetime: "Until the personal data of the case is deleted.",
  personalData: "pseudonymous",
  retention: "evidence",
  restore: "kept",
});

/** The form of an amount in the list. */
export function listedAmount({ amount, currency }: { amount: string; currency: string }): string {
  return `${amount} ${currency}`;
}

/** Stages the entry of a consent or a payment. @param amount of a consent, for the search of operators */
export function stageListed(
  tx: Pick<Transaction, "writes">,
  kind: ListedKind,
  made: Made,
  amount?: string,
): void {
  listedRecord.set(tx, keyOfListed(kind, made), amount === undefined ? {} : { amount });
}

export function stageListedGone(tx: Transaction, kind: ListedKind, made: Made): void {
  remove(tx, keyOfListed(kind, made));
}

export function keyOfListed(kind: ListedKind, { bank, clientId, createdAt, id }: Made): Key {
  return listedKey(kind, bank, clientId, listedPlace(createdAt, id));
}

/** Returns at most `limit` entries of one list, oldest first, behind the one with this place. */
export async function listOf(
  store: Store,
  { kind, bank, clientId }: ListOf,
  { from, until, after = "" }: Span & { readonly after?: string | undefined },
  limit: number,
): Promise<readonly Listed[]> {
  const prefix = listedKey(kind, bank, clientId);
  const first = listedPlace(Math.max(0, from));
  const entries = await store.list({ prefix, after: [...prefix, after > first ? after : first], limit });
  return entries.map(listEntry).filter(({ createdAt }) => createdAt < until);
}

/** Which TPPs' entries of a bank are read: all, or those of a sorted list. */
export type TppsAt = (bank: string) => "all" | readonly string[];

/** The lists that a walk goes through, in the order of banks, TPPs and times. */
export interface Walk extends Span {
  readonly kind: ListedKind;
  /** The only bank; all banks if undefined. */
  readonly bank?: string | undefined;
  readonly tppsAt: TppsAt;
  /** Where an earlier walk has stopped. */
  readonly after: string | undefined;
  readonly isWanted?: (entry: Listed) => boolean;
}

export interface Walked {
  readonly found: readonly Listed[];
  /** Where the walk has stopped before its end. */
  readonly next: string | undefined;
}

/** Bounds a walk. */
const [MAX_READS, MAX_ENTRIES] = [250, 5000];
/** Entries of a read: few after a jump, because the next one often jumps as well. */
const [FIRST_READ, MAX_READ] = [4, 100];
/** Behind every bank code, client id and time. */
const END = "~";
const CURSOR = /^[\w-]{1,64}(\.[\w-]{1,64}|\.~){0,2}$/;

/** Whether the text can be the {@link Walked.next} of a walk. It shows nothing that the walk may not read. */
export function isWalkCursor(cursor: string): boolean {
  return CURSOR.test(cursor);
}

/** Reads several lists, up to `limit` wanted entries. It jumps over the entries of other TPPs and other times. */
export async function walkLists(store: Store, walk: Walk, limit: number): Promise<Walked> {
  const prefix = listedKey(walk.kind, walk.bank);
  let at = startOf(walk);
  const found: Listed[] = [];
  let size = FIRST_READ;
  for (let reads = 0, left = MAX_ENTRIES; reads < MAX_READS && left > 0; reads++) {
    const page = await store.list({ prefix, after: at, limit: Math.min(size, left) });
    if (page.length === 0) return { found, next: undefined };
    left -= page.length;
    size = Math.min(2 * size, MAX_READ);
    for (const entry of page) {
      const one = listEntry(entry);
      const jump = jumpFrom(one, walk);
      at = [...listedKey(walk.kind), ...jump ?? [one.bank, one.clientId, one.place]];
      if (jump !== undefined) {
        size = FIRST_READ;
        break;
      }
      if (walk.isWanted?.(one) ?? true) found.push(one);
      if (found.length === limit) return { found, next: cursorOf(at) };
    }
  }
  return { found, next: cursorOf(at) };
}

/** A cursor of another bank begins anew: the database rejects a start outside of what is listed. */
function startOf({ kind, bank, after }: Walk): Key {
  const parts = after?.split(".") ?? [];
  return bank === undefined || parts[0] === bank ? [...listedKey(kind), ...parts] : listedKey(kind, bank);
}

/** Returns where the walk goes on if it does not read this entry. */
function jumpFrom({ bank, clientId, createdAt }: Listed, { tppsAt, from, until }: Walk): Key | undefined {
  const tpps = tppsAt(bank);
  if (tpps !== "all" && !tpps.includes(clientId)) {
    return [bank, tpps.find((tpp) => tpp > clientId) ?? END];
  }
  if (createdAt < from) return [bank, clientId, listedPlace(from)];
  return createdAt >= until ? [bank, clientId, END] : undefined;
}

function cursorOf(at: Key): string {
  return at.slice(2).join(".");
}

function listEntry(entry: Entry<unknown>): Listed {
  const [bank = "", clientId = "", place = ""] = entry.key.slice(2);
  const { amount } = listedRecord.decode(entry).value;
  const [at = "", id = ""] = [place.slice(0, 15), place.slice(16)];
  return { bank, clientId, id, createdAt: Number(at), amount, place };
}

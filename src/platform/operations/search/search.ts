/**
 * Finds cases for operators by any id that a customer, a TPP or a bank may quote: the interaction id of a request, which
 * is also the number on a customer's error page, a payment id, a consent id, an end-to-end id or an idempotency key.
 */
import type { Clock } from "../../../base/kernel/clock.ts";
import {
  asConsentId,
  asPaymentId,
  type ClientId,
  type ConsentId,
  isUuid,
  type PaymentId,
  paymentIdOf,
} from "../../../base/kernel/identifiers.ts";
import type { Store } from "../../../base/store/store.ts";
import { asOf } from "../../core/consents/consent.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import {
  type Listed,
  lookedUp,
  LOOKUP_KINDS,
  type LookupKind,
  type Span,
  walkLists,
} from "../../guards/lists/lookup_store.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import type { Trace } from "../traces/trace.ts";
import { MAX_LISTED, type TraceStore } from "../traces/trace_store.ts";
import { AUTHORISE_WITHIN_SECONDS, USE_WITHIN_SECONDS } from "../../../base/profile.ts";

export interface SearchDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly consents: Pick<ConsentStore, "find">;
  readonly payments: Pick<PaymentStore, "find">;
  readonly traces: TraceStore;
  readonly clients: Pick<ClientStore, "namesOf">;
}

/** Returns what people read for the TPPs of these cases. */
export async function namesIn(
  { clients, store }: Pick<SearchDeps, "clients" | "store">,
  cases: readonly { readonly clientId: ClientId }[],
): Promise<ReadonlyMap<string, string>> {
  return await clients.namesOf(store, cases.map(({ clientId }) => clientId));
}

/** By which kinds of id a case was found. */
export type FoundBy = "interaction id" | "payment id" | "consent id" | "amount" | LookupKind;

/** A consent and its payment, without personal data. */
export interface FoundCase {
  readonly foundBy: readonly FoundBy[];
  readonly consentId: ConsentId;
  readonly consentStatus: string;
  readonly paymentId?: PaymentId;
  readonly paymentStatus?: string;
  /** When the payment was created, milliseconds. */
  readonly paidAt?: number;
  readonly bank: string;
  readonly clientId: ClientId;
  /** When the consent was created, milliseconds. */
  readonly createdAt: number;
}

export interface Found {
  /** At most {@link MAX_CASES}, newest first. */
  readonly cases: readonly FoundCase[];
  /** Those of the interaction id, or the newest ones of the only case; newest first. */
  readonly traces: readonly Trace[];
  /** Whether there are no further cases and traces. */
  readonly isComplete: boolean;
}

export const MAX_CASES = 20;
/** Ids that a search follows. */
const MAX_IDS = 500;
const READ_AT_ONCE = 50;
/** Longer than any id. */
export const MAX_SEARCH_CHARACTERS = 128;

/** Whether a case may be found by the one who searches. */
export type IsShown = (of: { readonly clientId: string; readonly bank: string }) => boolean;

/**
 * Searches for the text. A text that is no id has no results.
 *
 * @param isOwn bounds a search to an organisation: the answer is as if there were no other cases (contract OWN2)
 */
export async function search(deps: SearchDeps, text: string, isOwn?: IsShown): Promise<Found> {
  const id = text.trim();
  if (id === "" || id.length > MAX_SEARCH_CHARACTERS) return { cases: [], traces: [], isComplete: true };
  const byInteraction = isUuid(id) ? await deps.traces.byInteraction(id) : { traces: [], isComplete: true };
  const { traces } = byInteraction;
  const named: (readonly [FoundBy, string])[] = [
    ["consent id", id],
    ["payment id", id],
    ...traces.flatMap(({ consentId, paymentId }) =>
      [consentId, paymentId].flatMap((one) => one === undefined ? [] : [["interaction id", one] as const])
    ),
  ];
  let isComplete = byInteraction.isComplete;
  const isShown = isOwn ?? (() => true);
  for (const kind of LOOKUP_KINDS) {
    const found = await lookedUp(deps.store, kind, id, MAX_CASES, isShown);
    named.push(...found.ids.map((one) => [kind, one] as const));
    isComplete &&= found.isComplete;
  }
  const all = await casesOf(deps, named.slice(0, MAX_IDS), isShown);
  isComplete &&= named.length <= MAX_IDS && all.length <= MAX_CASES;
  const cases = fairly(all, MAX_CASES);
  return { cases, traces: traces.length > 0 ? traces : await tracesOf(deps, cases), isComplete };
}

/** Returns so many cases, newest first: the newest ones of each TPP at each bank in turn. */
function fairly(cases: readonly FoundCase[], count: number): readonly FoundCase[] {
  const turns = new Map<string, number>();
  const inTurn = cases.map((one) => {
    const owner = `${one.clientId} ${one.bank}`;
    const turn = turns.get(owner) ?? 0;
    turns.set(owner, turn + 1);
    return { one, turn };
  });
  return inTurn.toSorted((a, b) => a.turn - b.turn).slice(0, count).map(({ one }) => one)
    .toSorted((one, other) => other.createdAt - one.createdAt);
}

/** Returns the cases, newest first. */
async function casesOf(
  deps: SearchDeps,
  named: readonly (readonly [FoundBy, string])[],
  isShown: IsShown,
): Promise<readonly FoundCase[]> {
  const byConsent = new Map<ConsentId, Set<FoundBy>>();
  for (let from = 0; from < named.length; from += READ_AT_ONCE) {
    const some = named.slice(from, from + READ_AT_ONCE);
    const ids = await Promise.all(
      some.map(async ([kind, id]) => [kind, await consentOf(deps, kind, id)] as const),
    );
    for (const [kind, id] of ids) {
      if (id !== undefined) byConsent.set(id, (byConsent.get(id) ?? new Set()).add(kind));
    }
  }
  const found: FoundCase[] = [];
  const all = [...byConsent];
  for (let from = 0; from < all.length; from += READ_AT_ONCE) {
    const some = all.slice(from, from + READ_AT_ONCE);
    const read = await Promise.all(some.map(([id, kinds]) => caseOf(deps, id, [...kinds], isShown)));
    found.push(...read.filter((one) => one !== undefined));
  }
  return found.toSorted((one, other) => other.createdAt - one.createdAt);
}

/** Returns the consent of a consent's or a payment's id, whose forms are the same. */
async function consentOf(
  { store, payments }: SearchDeps,
  kind: FoundBy,
  id: string,
): Promise<ConsentId | undefined> {
  const paymentId = kind === "consent id" ? undefined : asPaymentId(id);
  const payment = paymentId === undefined ? null : await payments.find(store, paymentId);
  if (payment !== null) return payment.value.consentId;
  return kind === "payment id" ? undefined : asConsentId(id);
}

/** Returns undefined if no such consent exists, or if it is not to be shown. */
async function caseOf(
  { store, clock, consents, payments }: SearchDeps,
  consentId: ConsentId,
  foundBy: readonly FoundBy[],
  isShown: IsShown,
): Promise<FoundCase | undefined> {
  const consent = (await consents.find(store, consentId))?.value;
  if (consent === undefined || !isShown(consent)) return undefined;
  const payment = (await payments.find(store, await paymentIdOf(consentId)))?.value;
  const { bank, clientId, createdAt } = consent;
  return {
    foundBy,
    consentId,
    consentStatus: asOf(consent, clock()).status,
    ...(payment === undefined
      ? {}
      : { paymentId: payment.id, paymentStatus: payment.status, paidAt: payment.createdAt }),
    bank,
    clientId,
    createdAt,
  };
}

async function tracesOf(
  { traces }: SearchDeps,
  [only, ...more]: readonly FoundCase[],
): Promise<readonly Trace[]> {
  if (only === undefined || more.length > 0) return [];
  return (await traces.about(only.clientId, only.consentId)).slice(0, MAX_LISTED);
}

/** The criteria of a search: an amount, and when the consent or its payment was created. */
export interface AmountQuery extends Span {
  /** Two fraction digits. */
  readonly amount: string;
  /** ISO 4217; any if undefined. */
  readonly currency: string | undefined;
  readonly bank: string | undefined;
  /** The client id of the TPP. */
  readonly tpp: string | undefined;
  /** The cursor of an earlier page. */
  readonly after: string | undefined;
}

export interface FoundByAmount {
  /** At most {@link MAX_CASES}, in the order of banks, TPPs and times of the consents. */
  readonly cases: readonly FoundCase[];
  /** Where the search goes on. It may have no results so far. */
  readonly next: string | undefined;
}

/** A payment is created so long after its consent at most, milliseconds. */
const PAYS_WITHIN_MS = (AUTHORISE_WITHIN_SECONDS + USE_WITHIN_SECONDS) * 1000;

/** Looks at a bounded number of entries. */
export async function searchAmount(deps: SearchDeps, query: AmountQuery): Promise<FoundByAmount> {
  const { amount, currency, bank, tpp, from, until, after } = query;
  const isWanted = (entry: Listed): boolean => {
    const [its, inCurrency] = entry.amount?.split(" ") ?? [];
    return its === amount && (currency === undefined || currency === inCurrency);
  };
  const tppsAt = (): "all" | readonly string[] => tpp === undefined ? "all" : [tpp];
  const span = { from: Math.max(0, from - PAYS_WITHIN_MS), until };
  const walk = { kind: "consent", bank, tppsAt, ...span, after, isWanted } as const;
  const { found, next } = await walkLists(deps.store, walk, MAX_CASES);
  const read = await Promise.all(found.map(async ({ id }) => {
    const consentId = asConsentId(id);
    return consentId === undefined ? undefined : await caseOf(deps, consentId, ["amount"], () => true);
  }));
  const isWithin = (at: number | undefined): boolean => at !== undefined && at >= from && at < until;
  const cases = read.filter((one) => one !== undefined)
    .filter(({ createdAt, paidAt }) => isWithin(createdAt) || isWithin(paidAt));
  return { cases, next };
}

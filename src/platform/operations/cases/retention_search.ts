/**
 * Searches for cases of which a class of records is due, in the order of the consents' ids, which is about that of their
 * times. A search goes on where the one before has ended, and what it leaves behind it keeps in a list of its own, so that
 * it reads neither what is erased nor what is too young.
 */
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import type { Entry, Store } from "../../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../base/store/transaction.ts";
import type { Consent } from "../../core/consents/consent.ts";
import {
  consentsAfter,
  consentsOf,
  leftAfter,
  type RetentionScan,
  scanOf,
  stageLeft,
  stageLeftDone,
  stageScan,
} from "./retention_store.ts";

export interface RetentionSearch {
  readonly class: "evidence" | "audit";
  /** Consents that were created later are too young, milliseconds. */
  readonly until: number;
  /** Whether the records of the class are gone, though the consent still exists. */
  isDone(consent: Entry<Consent>): boolean;
  /** Whether the next search may leave out what this one has looked at. */
  readonly canPass: boolean;
  /** Deletes what is due of these cases. Returns of how many. */
  retire(consents: readonly Entry<Consent>[]): Promise<number>;
}

/** Consents that are read at a time. */
const PAGE = 100;
/** Pages of a pass. The next one follows a second later. */
const PAGES = 5;
const HOUR_MS = 3_600_000;
/** From the beginning of a search to that of the next one. */
const EVERY_MS = HOUR_MS;
/** After this time a search begins with the first consent again, because a clock may have dated new ones years back. */
const ANEW_MS = 30 * 24 * HOUR_MS;

/** Goes on with the search. @param now milliseconds @returns the number of retired cases */
export async function searchCases(deps: TransactDeps, search: RetentionSearch, now: number): Promise<number> {
  let retired = 0;
  for (let read = 0; read < PAGES; read++) {
    const former = await scanOf(deps.store, search.class);
    const scan = begunOf(former?.value, search, now);
    if (scan === undefined) return retired;
    const page = await (scan.at === "left" ? pageOfLeft : pageOfOld)(deps.store, scan, search);
    const due = page.consents.filter((consent) => !search.isDone(consent));
    retired += await search.retire(due);
    const open = search.canPass ? await openOf(deps.store, search, due) : new Set();
    const isOwn = await commitIfUnchanged(deps, (tx) => {
      stageScan(tx, search.class, former, advanceScan(scan, page));
      for (const id of page.ids) {
        if (scan.at === "left" && !open.has(id)) stageLeftDone(tx, search.class, id);
        if (scan.at === "old" && open.has(id)) stageLeft(tx, search.class, id);
      }
    });
    if (!isOwn) return retired; // another process goes on
  }
  return retired;
}

/** Returns the search to go on with, or undefined if none is due. */
function begunOf(
  former: RetentionScan | undefined,
  { canPass }: RetentionSearch,
  now: number,
): RetentionScan | undefined {
  if (former === undefined) return { at: "left", beganAt: now, anewAt: now };
  if (former.at !== "rest") return former;
  if (Math.abs(now - former.beganAt) < EVERY_MS) return undefined;
  const isAnew = !canPass || Math.abs(now - former.anewAt) >= ANEW_MS;
  if (isAnew || former.passed === undefined) return { at: "left", beganAt: now, anewAt: now };
  return { at: "left", beganAt: now, anewAt: former.anewAt, passed: former.passed };
}

interface Page {
  readonly ids: readonly ConsentId[];
  readonly consents: readonly Entry<Consent>[];
  readonly isLast: boolean;
}

async function pageOfLeft(store: Store, { left }: RetentionScan, search: RetentionSearch): Promise<Page> {
  const ids = await leftAfter(store, search.class, left, PAGE);
  return { ids, consents: await consentsOf(store, ids), isLast: ids.length < PAGE };
}

/** The last page has no old consent. A young one before an old one has the id of a stock that was made long before. */
async function pageOfOld(store: Store, { passed }: RetentionScan, { until }: RetentionSearch): Promise<Page> {
  const page = await consentsAfter(store, passed, PAGE);
  const consents = page.slice(0, page.findLastIndex(({ value }) => value.createdAt <= until) + 1);
  const ids = consents.map(({ value }) => value.id);
  return { ids, consents, isLast: page.length < PAGE || ids.length === 0 };
}

/** Returns those that have to be looked at again. */
async function openOf(
  store: Store,
  { isDone }: RetentionSearch,
  due: readonly Entry<Consent>[],
): Promise<ReadonlySet<ConsentId>> {
  const now = await consentsOf(store, due.map(({ value }) => value.id));
  return new Set(now.filter((consent) => !isDone(consent)).map(({ value }) => value.id));
}

function advanceScan({ left: _, ...scan }: RetentionScan, { ids, isLast }: Page): RetentionScan {
  const last = ids.at(-1);
  if (scan.at === "left") {
    return isLast || last === undefined ? { ...scan, at: "old" } : { ...scan, left: last };
  }
  return { ...scan, at: isLast ? "rest" : "old", ...(last === undefined ? {} : { passed: last }) };
}

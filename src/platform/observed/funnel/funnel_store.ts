/**
 * Stores the funnel: the sums of each day by bank, by TPP and by both, and the cases that may still change them, with what
 * they count at present. The entry of a case is written in the commit of its consent, and each change of a sum is in one
 * commit with the entry of the case that it follows from. So every case counts exactly once, whatever happens to a process.
 * A reader gets by with a row for each bank or TPP, unless it asks for both.
 */
import { z } from "zod";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import {
  bankCode,
  clientId,
  consentId,
  count,
  defineRecord,
  instant,
  optional,
  text,
} from "../../../base/store/record.ts";
import { piecesBelow } from "../../../base/store/page.ts";
import { keyText } from "../../../base/store/request_reads.ts";
import type { Entry, Key, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import { REASON_CODES } from "../../../base/values/reason_codes.ts";
import { funnelCaseKey, funnelDayKey } from "../../config/store_keys.ts";
import { DAY_MS, dayOf } from "../figures/figures.ts";
import type { FunnelPart } from "./funnel.ts";
import { CONSENT_TYPES, type ConsentType, type Journey, STEPS } from "./journey.ts";

/** A case that may still change the funnel. */
export interface FunnelCase {
  readonly consentId: ConsentId;
  readonly bank: BankCode;
  readonly clientId: ClientId;
  readonly type: ConsentType;
  /** Milliseconds. */
  readonly createdAt: number;
  /** How it is counted at present. Absent before it was counted. */
  readonly counted?: Journey;
}

export const funnelCaseRecord = defineRecord<FunnelCase>({
  name: "funnel_case",
  keyParts: ["due time (ms)", "consent id"],
  what: "A case that may still change the funnel, by the time at which it is looked at next.",
  schema: z.looseObject({
    consentId,
    bank: bankCode,
    clientId,
    type: z.enum(CONSENT_TYPES),
    createdAt: instant,
    counted: optional(z.looseObject({
      language: text,
      reached: z.array(instant).max(STEPS.length),
      left: optional(z.enum(REASON_CODES)),
    })),
  }),
  version: 1,
  lifetime: "Until the case has ended, or `PLATFORM_REPORT_DAYS`.",
  personalData: "pseudonymous",
  retention: "protocol",
  restore: "kept",
});

/** The sums of the consents that were created on a day: at a bank, by a TPP, or by a TPP at a bank. */
export interface FunnelDay {
  readonly parts: readonly FunnelPart[];
}

export const funnelDayRecord = defineRecord<FunnelDay>({
  name: "funnel_day",
  keyParts: ["day", "`bank` and code, `tpp` and client id, or `both` and the two"],
  what: "How many consents of a day reached each step, with times between steps and reasons of leaving.",
  schema: z.looseObject({
    parts: z.array(z.looseObject({
      type: z.enum(CONSENT_TYPES),
      language: text,
      reached: z.looseObject(Object.fromEntries(STEPS.map((step) => [step, optional(count)]))),
      left: z.record(z.string(), count),
      times: z.looseObject(Object.fromEntries(STEPS.map((step) => [step, optional(z.array(count))]))),
    })),
  }),
  version: 1,
  lifetime: "`PLATFORM_REPORT_DAYS`.",
  personalData: "participant",
  retention: "protocol",
  restore: "kept",
});

/** Whose sums are read: of a day, of a bank, of a TPP. An absent member means all. */
export interface FunnelOf {
  readonly day: string;
  readonly bank?: string | undefined;
  readonly clientId?: string | undefined;
}

/** Sums, and whose they are. Absent: those of all banks, or all TPPs. */
export type FoundSums = FunnelDay & { readonly bank?: string; readonly clientId?: string };

/** Sums of a key as they were read. */
export interface FormerSums {
  readonly key: Key;
  readonly entry: Entry<FunnelDay> | null;
}

export interface FunnelStore {
  /** Returns the cases that are due, earliest first. @param damaged called for each that cannot be decoded */
  due(
    now: number,
    limit: number,
    damaged: (entry: Entry<unknown>, error: unknown) => void,
  ): Promise<readonly Entry<FunnelCase>[]>;
  /** Returns the sums that the cases of a day count in, each once. */
  sumsOf(cases: readonly FunnelCase[]): Promise<readonly FormerSums[]>;
  /** Stages the sums and the cases that they follow from. A case without `next` is never looked at again. */
  stageCounted(tx: Transaction, counted: CountedCases): void;
  /** Returns the entry of a case as it is stored, whatever it has. */
  stored(key: Key): Promise<Entry<unknown> | null>;
  /** Stages the stored entry of a case, whatever it has, for a later look. It ends with the sums. `at` is in milliseconds. */
  stagePostponed(tx: Transaction, former: Entry<unknown>, at: number): void;
  /**
   * Returns the sums of a day.
   *
   * @param apart what has rows of its own
   * @throws {StoreFailure}
   */
  read(of: FunnelOf, apart: readonly string[]): Promise<readonly FoundSums[]>;
}

export interface CountedCases {
  readonly sums: readonly (FormerSums & { readonly sums: FunnelDay })[];
  /** Of one day. At least one. */
  readonly cases: readonly {
    readonly former: Entry<FunnelCase>;
    readonly next?: { readonly at: number; readonly counted: Journey };
  }[];
}

/** A case is looked at first so long after its creation, milliseconds. */
const FIRST_LOOK_MS = 30_000;
const ROWS_READ = 500;
/** Of one day. Sums beyond it are missing. */
const MAX_ROWS_READ = 50_000;

/** Stages that a new case is to be counted, in the commit of its consent. */
export function stageFunnelCase(tx: Pick<Transaction, "writes">, of: FunnelCase): void {
  funnelCaseRecord.set(tx, funnelCaseKey(of.createdAt + FIRST_LOOK_MS, of.consentId), of);
}

async function dueEntries(store: Store, now: number, limit: number): Promise<readonly Entry<unknown>[]> {
  const entries = await store.list({ prefix: [funnelCaseRecord.name], limit });
  return entries.filter(({ key }) => Number(key[1]) <= now);
}

function decodedOrDamaged(
  entries: readonly Entry<unknown>[],
  damaged: (entry: Entry<unknown>, error: unknown) => void,
): readonly Entry<FunnelCase>[] {
  return entries.flatMap((entry) => {
    try {
      return funnelCaseRecord.decode(entry);
    } catch (error) {
      damaged(entry, error);
      return [];
    }
  });
}

/** @param keepMs how long sums are kept after their day, milliseconds */
export function openFunnelStore(store: Store, keepMs: number): FunnelStore {
  const endOf = (day: string): number => Date.parse(day) + DAY_MS + keepMs;
  return {
    due: async (now, limit, damaged) => decodedOrDamaged(await dueEntries(store, now, limit), damaged),
    async sumsOf(cases) {
      const keys = [...new Map(cases.flatMap(keysOf).map((key) => [keyText(key), key])).values()];
      const entries = await store.getMany(keys);
      return keys.map((key, place) => {
        const entry = entries[place] ?? null;
        return { key, entry: entry === null ? null : funnelDayRecord.decode(entry) };
      });
    },
    stageCounted(tx, { sums, cases }) {
      const [first] = cases;
      if (first === undefined) return;
      const end = endOf(dayOf(first.former.value.createdAt));
      for (const { key, entry, sums: changed } of sums) {
        check(tx, key, entry?.version ?? null);
        funnelDayRecord.set(tx, key, changed, end);
      }
      for (const { former: { key: place, version, value }, next } of cases) {
        check(tx, place, version);
        remove(tx, place);
        if (next === undefined) continue;
        const changed = { ...value, counted: next.counted };
        funnelCaseRecord.set(tx, funnelCaseKey(next.at, value.consentId), changed, end);
      }
    },
    stored: (key) => store.get(key),
    stagePostponed(tx, { key, version, value }, at) {
      check(tx, key, version);
      remove(tx, key);
      const { createdAt } = Object(value) as { readonly createdAt?: unknown };
      const expiresAt = (Number.isFinite(createdAt) ? Number(createdAt) : at) + DAY_MS + keepMs;
      tx.writes.push({ kind: "set", key: funnelCaseKey(at, key[2] ?? ""), value, expiresAt });
    },
    read: (of, apart) => readSums(store, of, apart),
  };
}

async function readSums(
  store: Store,
  { day, bank, clientId }: FunnelOf,
  apart: readonly string[],
): Promise<readonly FoundSums[]> {
  const byBank = bank !== undefined || apart.includes("bank");
  const byTpp = clientId !== undefined || apart.includes("tpp");
  if (!byTpp) return await readRows(store, funnelDayKey(day, "bank"), bank);
  if (!byBank) return await readRows(store, funnelDayKey(day, "tpp"), clientId);
  if (bank !== undefined) return await readRows(store, funnelDayKey(day, "both", bank), clientId);
  const found = await readRows(store, funnelDayKey(day, "both"));
  return clientId === undefined ? found : found.filter((one) => one.clientId === clientId);
}

/** Returns the row, or without a name all rows below the prefix. */
async function readRows(store: Store, prefix: Key, name?: string): Promise<readonly FoundSums[]> {
  if (name !== undefined) {
    const row = await funnelDayRecord.get(store, [...prefix, name]);
    return row === null ? [] : [foundSums(row)];
  }
  const found = [];
  for await (const rows of piecesBelow(store, prefix, ROWS_READ, MAX_ROWS_READ)) {
    for (const row of rows) found.push(foundSums(funnelDayRecord.decode(row)));
  }
  return found;
}

function foundSums({ key: [, , of, first = "", second = ""], value }: Entry<FunnelDay>): FoundSums {
  if (of === "bank") return { ...value, bank: first };
  return of === "tpp" ? { ...value, clientId: first } : { ...value, bank: first, clientId: second };
}

/** The keys of the sums that a case counts in. */
export function keysOf({ createdAt, bank, clientId }: FunnelCase): readonly Key[] {
  const day = dayOf(createdAt);
  return [
    funnelDayKey(day, "bank", bank),
    funnelDayKey(day, "tpp", clientId),
    funnelDayKey(day, "both", bank, clientId),
  ];
}

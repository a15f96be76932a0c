/**
 * Stores the funnel: the sums of each day, bank and TPP, and the cases that may still change them, with what they count at
 * present. The entry of a case is written in the commit of its consent, and each change of a sum is in one commit with the
 * entry of the case that it follows from. So every case counts exactly once, whatever happens to a process.
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

/** The sums of the consents that a TPP has created at a bank on a day. */
export interface FunnelDay {
  readonly parts: readonly FunnelPart[];
}

export const funnelDayRecord = defineRecord<FunnelDay>({
  name: "funnel_day",
  keyParts: ["day", "bank code", "client id"],
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

export interface FunnelStore {
  /** Returns the cases that are due, earliest first. */
  due(now: number, limit: number): Promise<readonly Entry<FunnelCase>[]>;
  /** Returns the sums of a case's day, bank and TPP. */
  sumsOf(of: FunnelCase): Promise<Entry<FunnelDay> | null>;
  /** Stages the sums and the cases that they follow from. A case without `next` is never looked at again. */
  stageCounted(tx: Transaction, former: Entry<FunnelDay> | null, counted: CountedCases): void;
  /** Returns the sums of a day. @throws {StoreFailure} */
  read(of: FunnelOf): Promise<readonly (FunnelDay & { readonly bank: string; readonly clientId: string })[]>;
}

export interface CountedCases {
  readonly sums: FunnelDay;
  /** Of one day, bank and TPP. At least one. */
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

/** @param keepMs how long sums are kept after their day, milliseconds */
export function openFunnelStore(store: Store, keepMs: number): FunnelStore {
  const endOf = (day: string): number => Date.parse(day) + DAY_MS + keepMs;
  return {
    async due(now, limit) {
      const entries = await store.list({ prefix: [funnelCaseRecord.name], limit });
      return entries.filter(({ key }) => Number(key[1]) <= now).map(funnelCaseRecord.decode);
    },
    sumsOf: (of) => funnelDayRecord.get(store, keyOf(of)),
    stageCounted(tx, former, { sums, cases }) {
      const [first] = cases;
      if (first === undefined) return;
      const key = keyOf(first.former.value);
      const end = endOf(dayOf(first.former.value.createdAt));
      check(tx, key, former?.version ?? null);
      funnelDayRecord.set(tx, key, sums, end);
      for (const { former: { key: place, version, value }, next } of cases) {
        check(tx, place, version);
        remove(tx, place);
        if (next === undefined) continue;
        const changed = { ...value, counted: next.counted };
        funnelCaseRecord.set(tx, funnelCaseKey(next.at, value.consentId), changed, end);
      }
    },
    async read({ day, bank, clientId }) {
      if (bank !== undefined && clientId !== undefined) {
        const row = await funnelDayRecord.get(store, funnelDayKey(day, bank, clientId));
        return row === null ? [] : [{ ...row.value, bank, clientId }];
      }
      const found = [];
      for await (const rows of piecesBelow(store, funnelDayKey(day, bank), ROWS_READ, MAX_ROWS_READ)) {
        for (const { key, value } of rows.map(funnelDayRecord.decode)) {
          found.push({ ...value, bank: key[2] ?? "", clientId: key[3] ?? "" });
        }
      }
      return clientId === undefined ? found : found.filter((one) => one.clientId === clientId);
    },
  };
}

function keyOf({ createdAt, bank, clientId }: FunnelCase): Key {
  return funnelDayKey(dayOf(createdAt), bank, clientId);
}

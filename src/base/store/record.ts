/**
 * Records: each kind of stored value is declared once, with its key, schema, version, lifetime and class of personal
 * data. `docs/storage.md` is generated from the declarations. Values are JSON of bounded size, so that any database
 * can hold them. An object is stored with the version of its declaration in the member `v`.
 */
import { z } from "zod";
import { freezeDeep, isJsonObject } from "../kernel/json.ts";
import type { Check, Entry, Key, Reader, Store, Write } from "./store.ts";
import {
  asBankCode,
  asClientId,
  asConsentId,
  asPaymentId,
  type BankCode,
  type ClientId,
  type ConsentId,
  type PaymentId,
} from "../kernel/identifiers.ts";

/**
 * Whom a record is about:
 * - `none`: no person.
 * - `participant`: an organisation of the directory, or its staff in a contact or a history.
 * - `customer`: a bank's customer: accounts, amounts, or an id of the customer.
 * - `pseudonymous`: ids of consents, payments or sessions, which lead to a customer only through other records.
 */
export type PersonalData = "none" | "participant" | "pseudonymous" | "customer";

/**
 * Until when a record is kept:
 * - `protocol`: until its work is done or its time has passed, as its lifetime says.
 * - `traces`: `PLATFORM_TRACE_DAYS`.
 * - `evidence`: the personal data of a case. Until the case is erased.
 * - `audit`: the history of a case and what an erasure leaves of it. Until `PLATFORM_DELETE_HISTORIES_DAYS` have passed.
 * - `register`: participants, their keys, and what operators did. As long as the database.
 * - `proof`: hashes and signatures of the evidence log, and what was deleted. As long as the database.
 * - `system`: the database itself. As long as the database.
 */
export type Retention = "protocol" | "traces" | "evidence" | "audit" | "register" | "proof" | "system";

/**
 * What happens to a record when an older copy of the database is restored (Decision G9):
 * - `kept`: it stays as the copy has it.
 * - `deleted`: nobody may use what the copy has, because it may have been used or decided since.
 * - `ended`: its time ends with the restore.
 * - `voided`: what could still be used is void, with an entry in its history.
 * - `held`: it waits until it has been compared with the bank.
 * - `follows`: it changes with the record that it points to.
 * - `begun`: it says that the restore has happened.
 */
export type Restore = "kept" | "deleted" | "ended" | "voided" | "held" | "follows" | "begun";

/** A value that ends at a time, milliseconds. */
export interface Ending {
  readonly expiresAt: number;
}

/** The declaration of a record. */
export interface Declaration<T> {
  /** The first part of the key, or the first parts separated by a space. */
  readonly name: string;
  /** The other parts of the key, for the documentation, such as `client id`. */
  readonly keyParts: readonly string[];
  /** One sentence for the documentation. */
  readonly what: string;
  readonly schema: z.ZodType<T> & NamesEveryMember<T>;
  /** Of the values that this program writes, from 1. A stored object without a version has version 1. */
  readonly version: number;
  /** Converts an object of the version before each of these versions. */
  readonly upgrades?: Readonly<Record<number, (former: StoredObject) => StoredObject>>;
  /** When the database deletes it, for the documentation. */
  readonly lifetime: string;
  readonly personalData: PersonalData;
  readonly retention: Retention;
  readonly restore: T extends Ending ? Restore : Exclude<Restore, "ended">;
}

/** The schema of an object names each of its members, also optional ones, which it would else store unchecked. */
type NamesEveryMember<T> = string extends keyof T ? unknown
  : { readonly shape: MembersOf<T> } | { readonly shape?: never };

/** A schema for each member of an object. Say that the shape of a nested object `satisfies` it. */
export type MembersOf<T> = { readonly [Member in keyof T]-?: z.ZodType };

export type StoredObject = Readonly<Record<string, unknown>>;

export interface StoredRecord<T> extends Omit<Declaration<T>, "schema" | "upgrades" | "restore"> {
  readonly restore: Restore;
  /** Whether values are objects, which have a version. A text, a number or a flag has none. */
  readonly isVersioned: boolean;
  /** Returns the entry, or null. */
  get(from: Reader, key: Key): Promise<Entry<T> | null>;
  /** Returns entries in the order of their keys: all of the record, or those below a prefix. */
  list(from: Pick<Store, "list">, listing: RecordListing): Promise<Entry<T>[]>;
  /** Decodes an entry of another listing. */
  decode(entry: Entry<unknown>): Entry<T>;
  /** Stages a write. `expiresAt` is in milliseconds since the Unix epoch. */
  set(tx: { readonly writes: Write[] }, key: Key, value: T, expiresAt?: number): void;
  /** Stages a write in place of the entry as it was read, or of none. Of such writes at the same time one commits. */
  replace(
    tx: { readonly checks: Check[]; readonly writes: Write[] },
    key: Key,
    former: Pick<Entry<unknown>, "version"> | null | undefined,
    value: T,
    expiresAt?: number,
  ): void;
}

/** Which entries of a record, in the order of their keys. */
export interface RecordListing {
  readonly prefix?: Key;
  /** Where an earlier listing has ended; undefined from the first entry. */
  readonly after?: Key | undefined;
  readonly limit: number;
}

/** A stored or staged value does not have the form of its record. Names members, never their values. */
export class RecordFault extends Error {
  override readonly name = "RecordFault";
}

/**
 * Largest value, as characters of its JSON. Deno KV takes 64 KiB, with one or two bytes a
 * character.
 */
export const MAX_VALUE_CHARACTERS = 65_536;

const VERSION = "v";
/** A NUL character in JSON, and not an escaped backslash before `u0000`. PostgreSQL cannot store one. */
const NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/**
 * Declares a record.
 *
 * @throws {RecordFault} if a version has no upgrade from the one before
 */
export function defineRecord<T>(declaration: Declaration<T>): StoredRecord<T> {
  const { name, version, upgrades } = declaration;
  for (let next = 2; next <= version; next++) {
    if (upgrades?.[next] === undefined) throw new RecordFault(`record ${name} has no upgrade to ${next}`);
  }
  const once = decodedOnce(declaration);
  const decode = (entry: Entry<unknown>): Entry<T> => ({ ...entry, value: once(entry.value) });
  const { schema: _schema, upgrades: _upgrades, ...documented } = declaration;
  return {
    ...documented,
    isVersioned: declaration.schema instanceof z.ZodObject ||
      declaration.schema instanceof z.ZodDiscriminatedUnion,
    ...accessTo<T>(name, decode, (tx, key, value, expiresAt) => {
      const write = { kind: "set", key, value: encodeStored(declaration, value) } as const;
      tx.writes.push(expiresAt === undefined ? write : { ...write, expiresAt });
    }),
  };
}

/** A record whose stored form differs from the values that the program uses. */
export function convertedRecord<T, Stored>(
  record: StoredRecord<Stored>,
  read: (stored: Stored) => T,
  write: (value: T) => Stored,
): StoredRecord<T> {
  const decode = (entry: Entry<unknown>): Entry<T> => {
    const stored = record.decode(entry);
    return { ...stored, value: read(stored.value) };
  };
  return {
    ...record,
    ...accessTo<T>(
      record.name,
      decode,
      (tx, key, value, expiresAt) => record.set(tx, key, write(value), expiresAt),
    ),
  };
}

function accessTo<T>(
  name: string,
  decode: StoredRecord<T>["decode"],
  set: StoredRecord<T>["set"],
): Pick<StoredRecord<T>, "get" | "list" | "decode" | "set" | "replace"> {
  return {
    decode,
    set,
    async get(from, key) {
      const entry = await from.get<unknown>(key);
      return entry === null ? null : decode(entry);
    },
    async list(from, { prefix = name.split(" "), after, limit }) {
      const start = after === undefined ? {} : { after };
      return (await from.list({ prefix, ...start, limit })).map(decode);
    },
    replace(tx, key, former, value, expiresAt) {
      tx.checks.push({ key, version: former?.version ?? null });
      set(tx, key, value, expiresAt);
    },
  };
}

/** An optional member, which may also be stored as undefined. */
export function optional<S extends z.ZodType>(schema: S): z.ZodExactOptional<S>;
export function optional(schema: z.ZodType): unknown {
  return z.optional(schema);
}

/** Decodes each frozen value once: readers share it (`entry_cache.ts`), and so they share the result. */
function decodedOnce<T>(declaration: Declaration<T>): (stored: unknown) => T {
  const known = new WeakMap<object, { readonly value: T }>();
  return (stored) => {
    if (!isJsonObject(stored) || !Object.isFrozen(stored)) return decodeStored(declaration, stored);
    const before = known.get(stored);
    if (before !== undefined) return before.value;
    const value = freezeDeep(decodeStored(declaration, stored));
    known.set(stored, { value });
    return value;
  };
}

/**
 * Two versions of a program may share a store, so an object of the next version is accepted too. Members that this
 * version does not know are kept, also in a changed copy.
 *
 * @throws {RecordFault} for a later version, or a value that does not fit the schema
 */
function decodeStored<T>(declaration: Declaration<T>, stored: unknown): T {
  const { name, schema, version } = declaration;
  const found = versionOf(stored);
  if (found > version + 1) {
    throw new RecordFault(
      `record ${name} has version ${found}; this program reads versions up to ${version + 1}`,
    );
  }
  const value = withoutVersion(stored);
  const parsed = schema.safeParse(found < version ? upgradeStored(declaration, value, found) : value);
  if (parsed.success) return parsed.data;
  throw new RecordFault(`record ${name} has an unexpected form: ${pathsOf(parsed.error)}`);
}

/** @throws {RecordFault} if the value does not fit the schema, is not JSON or is too large */
function encodeStored<T>({ name, schema, version }: Declaration<T>, value: T): unknown {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new RecordFault(`record ${name} would not fit: ${pathsOf(parsed.error)}`);
  const json = JSON.stringify(value);
  if (json.length > MAX_VALUE_CHARACTERS) {
    throw new RecordFault(`record ${name} is too large: ${json.length}`);
  }
  if (json.includes("\\u0000") && NUL.test(json)) {
    throw new RecordFault(`record ${name} contains a NUL character`);
  }
  return isJsonObject(value) ? { ...value, [VERSION]: version } : value;
}

function upgradeStored<T>(
  { name, version, upgrades }: Declaration<T>,
  stored: unknown,
  found: number,
): unknown {
  let value = stored;
  for (let next = found + 1; next <= version; next++) {
    const upgrade = upgrades?.[next];
    if (upgrade === undefined || !isJsonObject(value)) {
      throw new RecordFault(`record ${name} has no upgrade to ${next}`);
    }
    value = upgrade(value);
  }
  return value;
}

/** Texts and numbers have no version: to change one, declare another record or store an object in its place. */
function versionOf(stored: unknown): number {
  const version = isJsonObject(stored) ? stored[VERSION] : undefined;
  return typeof version === "number" ? version : 1;
}

function withoutVersion(stored: unknown): unknown {
  if (!isJsonObject(stored)) return stored;
  const { [VERSION]: _, ...value } = stored;
  return value;
}

function pathsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, code }) => `${path.join(".")} ${code}`).join(", ");
}

// Members of stored values that many records have.

export const text = z.string();
export const texts = z.array(text);
export const flag = z.boolean();
export const count = z.number();
/** Milliseconds since the Unix epoch. */
export const instant = z.number();
export const bankCode = z.custom<BankCode>((value) => asBankCode(value) !== undefined);
export const clientId = z.custom<ClientId>((value) => asClientId(value) !== undefined);
export const consentId = z.custom<ConsentId>((value) => asConsentId(value) !== undefined);
export const paymentId = z.custom<PaymentId>((value) => asPaymentId(value) !== undefined);

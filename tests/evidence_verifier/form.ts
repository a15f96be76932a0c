/** Step 1: the form of a bundle. */
import { canonicalForm, listOf, membersOf, parsed } from "./encoding.ts";

export interface Item {
  readonly kind: string;
  readonly sha256: string;
  readonly key?: string;
}

export interface Authentication {
  readonly clientId: string;
  readonly certificate: string;
  readonly method: string;
  readonly target: string;
  readonly token?: string;
  readonly assertion?: { readonly kid: string; readonly jtiHash: string };
  readonly proof?: string;
}

export interface Entry {
  readonly at: number;
  readonly event: string;
  readonly actor: string;
  readonly subject: string;
  readonly sequence: number;
  readonly salt: string;
  readonly previous?: string;
  readonly reason?: string;
  readonly items?: readonly Item[];
  readonly page?: { readonly language: string; readonly sha256: string };
  readonly authentication?: Authentication;
  readonly issued?: { readonly code?: string; readonly token?: string };
  readonly documents?: readonly { readonly kind: string; readonly sha256: string }[];
  readonly deleted?: readonly string[];
}

export interface Body {
  readonly bytes: string;
  readonly salt: string;
  readonly signature?: string;
}

export interface PublicKey {
  readonly kty: "RSA";
  readonly n: string;
  readonly e: "AQAB";
  readonly kid: string;
  readonly x5c?: readonly string[];
  readonly "x5t#S256"?: string;
}

export interface Bundle {
  readonly entries: readonly {
    readonly record: Entry;
    readonly position: number;
    readonly bodies: readonly (Body | null)[];
    readonly index: number;
    readonly proof: readonly string[];
  }[];
  /** Entries of which the reader has the leaf alone (EV18). */
  readonly withheld?: readonly {
    readonly leaf: string;
    readonly subject: string;
    readonly sequence: number;
    readonly position: number;
    readonly index: number;
    readonly proof: readonly string[];
  }[];
  readonly documents: readonly string[];
  readonly keys: readonly PublicKey[];
  readonly checkpoint: string;
  readonly statement: string;
}

/** The proof that retention has deleted a case (EV13). */
export interface Deletion {
  readonly entry: Bundle["entries"][number];
  readonly keys: readonly PublicKey[];
  readonly checkpoint: string;
  readonly statement: string;
}

type Shape = (value: unknown) => boolean;

export const text: Shape = (value: unknown): boolean => typeof value === "string";
const matches = (pattern: RegExp): Shape => (value) => typeof value === "string" && pattern.test(value);
export const hash = matches(/^[\w-]{43}$/);
const salt = matches(/^[\w-]{22}$/);
export const integer: Shape = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const positive: Shape = (value) => integer(value) && Number(value) > 0;
export const list = (shape: Shape): Shape => (value: unknown): boolean =>
  Array.isArray(value) && value.every(shape);

/** An object that has `required`, may have `optional`, and others only if it is `open`. */
export function object(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
  open = false,
): Shape {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const shapes = { ...optional, ...required };
    return Object.keys(required).every((name) => Object.hasOwn(value, name)) &&
      Object.entries(value).every(([name, member]) =>
        Object.hasOwn(shapes, name) ? shapes[name]?.(member) === true : open
      );
  };
}

const item = object({ kind: text, sha256: hash }, { key: hash });
const authentication = object({ clientId: text, certificate: hash, method: text, target: text }, {
  token: hash,
  assertion: object({ kid: text, jtiHash: hash }, {}, true),
  proof: text,
}, true);
const record = object(
  { at: integer, event: text, actor: text, subject: text, sequence: positive, salt },
  {
    previous: hash,
    reason: text,
    interactionId: text,
    items: list(item),
    page: object({ language: text, sha256: hash }, {}, true),
    authentication,
    issued: object({}, { code: hash, token: hash }, true),
    documents: list(object({ kind: text, sha256: hash }, {}, true)),
    deleted: list(text),
  },
  true,
);
const body = object({ bytes: text, salt }, { signature: text });
const entry = object({
  record,
  position: integer,
  bodies: list((value) => value === null || body(value)),
  index: integer,
  proof: list(hash),
});
export const isKey = object({
  kty: (value) => value === "RSA",
  n: text,
  e: (value) => value === "AQAB",
  kid: text,
}, {
  x5c: list(text),
  "x5t#S256": hash,
}, true);
const isBundle = object({
  format: (value) => value === "evidence-bundle-1",
  entries: list(entry),
  documents: list(text),
  keys: list(isKey),
  checkpoint: text,
  statement: text,
}, {
  withheld: list(
    object({
      leaf: hash,
      subject: text,
      sequence: positive,
      position: integer,
      index: integer,
      proof: list(hash),
    }),
  ),
});

const isDeletion = object({
  format: (value) => value === "evidence-deletion-1",
  entry,
  keys: list(isKey),
  checkpoint: text,
  statement: text,
});

const LONGEST = 64 * 1024 * 1024;

/** Returns the bundle or the proof of a deletion, or what is wrong with its form. */
export function readFile(bytes: Uint8Array): Bundle | Deletion | string {
  if (bytes.length > LONGEST) return "more than 64 MiB";
  const value = parsed(bytes);
  if (value === undefined) return "no JSON in UTF-8";
  try {
    const canonical = new TextEncoder().encode(`${canonicalForm(value)}\n`);
    if (canonical.length !== bytes.length || canonical.some((byte, at) => byte !== bytes[at])) {
      return "not the RFC 8785 form and a line feed";
    }
  } catch (error) {
    return String(error);
  }
  if (!isBundle(value) && !isDeletion(value)) return "other members, or members of another form";
  const { entries, keys } = membersOf(value);
  if (entries !== undefined && listOf(entries).length === 0 || listOf(keys).length === 0) {
    return "no entries or no keys";
  }
  const kids = listOf(keys).map((key) => membersOf(key)["kid"]);
  if (new Set(kids).size < kids.length) return "a kid twice";
  return value as Bundle | Deletion;
}

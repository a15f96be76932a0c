/**
 * Stores pieces of evidence together with their effect (contract RP11): those that do not fit into the row of the
 * history entry that names them, and those that are read by their place. They are stored in parts, because a body can
 * be larger than a value of the store.
 */
import { z } from "zod";
import { defineRecord, optional, text } from "../../base/store/record.ts";
import { base64url } from "../../base/kernel/identifiers.ts";
import { evidenceDocumentKey, evidenceKey } from "../config/store_keys.ts";
import type { Key, Reader } from "../../base/store/store.ts";
import { remove, type Transaction } from "../../base/store/transaction.ts";
import { type PersonalData, personalDataMember, PRESENT } from "./personal_data.ts";
import { type EvidenceBody, type SharedDocument, sharedDocument } from "./evidence.ts";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { OwnKey } from "../../base/jose/own_key.ts";

/** A body, or the first part of one, as it is stored. A further part has bytes alone. */
export interface StoredBody extends Omit<EvidenceBody, "bytes"> {
  /** The bytes, if they are a text in UTF-8: it is stored as it is, because sealed members are compressed. */
  readonly text?: string;
  /** The bytes in base64url, if they are not. */
  readonly bytes?: string;
}

interface Part extends StoredBody {
  /** Set when it is read and cannot be opened. Never stored. */
  readonly personalData?: PersonalData;
}

const bodyMembers = {
  signature: optional(text),
  salt: optional(text),
  text: optional(text),
  bytes: optional(text),
};
export const storedBody = z.looseObject(bodyMembers);

/**
 * Lengths of the parts. Sealed in base64url, and the first one with the longest signature, each is less than the
 * store's limit. Together they are enough for the largest request body.
 */
const PART_BYTES = [30_000, 36_000] as const;
export const MAX_EVIDENCE_BYTES = PART_BYTES[0] + PART_BYTES[1];

export const evidenceRecord = defineRecord<Part>({
  name: "evidence",
  keyParts: ["resource id and purpose", "number of the part"],
  what: "A piece of evidence, in parts: what a party sent or saw, its signature and its salt.",
  schema: z.looseObject({ ...bodyMembers, personalData: optional(personalDataMember) }),
  version: 1,
  lifetime: "Until the case is erased, or an entry of its history deletes it.",
  personalData: "customer",
  retention: "evidence",
  restore: "kept",
});

/**
 * Stages a body.
 *
 * @throws {Error} if it is larger than two parts, which no accepted request is
 */
export function stageBody(tx: Transaction, place: string, { bytes, ...rest }: EvidenceBody): void {
  if (bytes.length > MAX_EVIDENCE_BYTES) throw new Error(`${place} is larger than evidence may be`);
  const [first] = PART_BYTES;
  evidenceRecord.set(tx, evidenceKey(place, 0), asStored({ ...rest, bytes: bytes.slice(0, first) }));
  if (bytes.length <= first) return;
  evidenceRecord.set(tx, evidenceKey(place, 1), asStored({ bytes: bytes.slice(first) }));
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A text takes no more characters of JSON than base64url would, so that a part always fits into a value. */
export function asStored({ bytes, ...rest }: EvidenceBody): StoredBody {
  const encoded = base64url(bytes);
  try {
    const text = UTF8.decode(bytes);
    const fits = JSON.stringify(text).length <= encoded.length + QUOTES && !text.includes("\0");
    if (fits) return { ...rest, text };
  } catch {
    // not UTF-8
  }
  return { ...rest, bytes: encoded };
}

const QUOTES = 2;

export function asBody(stored: StoredBody): EvidenceBody {
  const { text: _, bytes: __, ...rest } = stored;
  return { ...rest, bytes: bytesOf(stored) };
}

/** Stages the deletion of a body. */
export function stageBodyGone(tx: Transaction, place: string): void {
  for (const key of bodyKeys(place)) remove(tx, key);
}

/** Returns the body at a place: null if it was deleted or its case was erased, `"lost"` if its data key is lost. */
export async function bodyAt(reader: Reader, place: string): Promise<EvidenceBody | "lost" | null> {
  const entries = await Promise.all(bodyKeys(place).map((key) => evidenceRecord.get(reader, key)));
  const [first, ...more] = entries.map((entry) => entry?.value);
  if (first === undefined) return null;
  const { personalData = PRESENT, ...body } = first;
  if (personalData.state !== "present") return personalData.state === "lost" ? "lost" : null;
  const bytes = [first, ...more].flatMap((part) => part === undefined ? [] : [bytesOf(part)]);
  return { ...asBody(body), bytes: new Uint8Array(await new Blob(bytes).arrayBuffer()) };
}

function bodyKeys(place: string): readonly Key[] {
  return PART_BYTES.map((_, part) => evidenceKey(place, part));
}

function bytesOf({ text, bytes = "" }: Pick<StoredBody, "text" | "bytes">): Uint8Array<ArrayBuffer> {
  if (text !== undefined) return new TextEncoder().encode(text);
  return Uint8Array.fromBase64(bytes, { alphabet: "base64url" });
}

// Stores documents that many history entries name by their SHA-256: public keys with their certificates, and software
// statements. Each is stored once and never changes, so that signatures can be verified after every key was replaced.

export const evidenceDocumentRecord = defineRecord<{ readonly text: string }>({
  name: "evidence_document",
  keyParts: ["SHA-256 of the text"],
  what: "A public key with its certificates, or a software statement, as history entries name it.",
  schema: z.looseObject({ text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "participant",
  retention: "register",
  restore: "kept",
});

const committed = new WeakSet<SharedDocument>();

/** Stages the document, unless a commit of this object has stored it. */
export function stageDocument(tx: Transaction, document: SharedDocument): void {
  if (committed.has(document)) return;
  evidenceDocumentRecord.set(tx, evidenceDocumentKey(document.sha256), { text: document.text });
  tx.onCommit.push(() => committed.add(document));
}

/** Returns the text of a document, or null. */
export async function documentAt(reader: Reader, sha256: string): Promise<string | null> {
  return (await evidenceDocumentRecord.get(reader, evidenceDocumentKey(sha256)))?.value.text ?? null;
}

// Public keys as documents, so that a signature can be verified when its key is no longer published.

const MEMBERS = ["kty", "n", "e", "kid", "use", "x5t#S256"] as const;
/** Of a certificate chain, in characters. A longer one is left out. */
const MAX_CHAIN_CHARACTERS = 24_000;

const documents = new WeakMap<OwnKey["key"], SharedDocument>();

/** Remembers as which JWK the key was published. */
export function rememberPublished(key: OwnKey["key"], jwk: JsonObject): void {
  documents.set(key, keyDocument(jwk));
}

/** Returns the document of an imported key, or undefined if {@link rememberPublished} was not called with it. */
export function documentOfKey(key: OwnKey["key"]): SharedDocument | undefined {
  return documents.get(key);
}

/** A key that signs for the platform, and its document. */
export interface OwnSigner extends OwnKey {
  readonly document: SharedDocument;
}

/**
 * Returns the key that signs for the platform now, with its document. Sign with it whatever names its document: after
 * the next turn of the event loop, another key may sign.
 */
export function ownSignerOf({ signer, publicJwks }: Pick<KeyRing, "signer" | "publicJwks">): OwnSigner {
  const { kid, key } = signer;
  if (!documents.has(key)) {
    const jwk = publicJwks.keys.find((published) => published["kid"] === kid);
    if (jwk !== undefined) rememberPublished(key, jwk);
  }
  const document = documents.get(key);
  if (document === undefined) throw new Error("the signing key is not published");
  return { kid, key, document };
}

/** Returns the RFC 8785 form of the public members and of the certificates (`x5c`). */
function keyDocument(jwk: JsonObject): SharedDocument {
  const members = MEMBERS.flatMap((name) => typeof jwk[name] === "string" ? [[name, jwk[name]]] : []);
  const chain = chainOf(jwk["x5c"]);
  const text = canonicalize({
    ...Object.fromEntries(members),
    ...(chain === undefined ? {} : { x5c: chain }),
  });
  return sharedDocument(text ?? "");
}

function chainOf(x5c: unknown): readonly string[] | undefined {
  const isChain = Array.isArray(x5c) && x5c.every((each) => typeof each === "string") &&
    x5c.join("").length <= MAX_CHAIN_CHARACTERS;
  return isChain ? x5c : undefined;
}

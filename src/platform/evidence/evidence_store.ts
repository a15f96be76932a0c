/**
 * Stores pieces of evidence together with their effect (contract RP11), apart from the history entries that name
 * them. They are stored in parts, because a body can be larger than a value of the store.
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

/** A part of the bytes. The first one also has the other members of the body. */
interface Part extends Omit<EvidenceBody, "bytes"> {
  /** Base64url. */
  readonly bytes: string;
  /** Set when it is read and cannot be opened. Never stored. */
  readonly personalData?: PersonalData;
}

/**
 * Lengths of the parts. Sealed in base64url, and the first one with the longest signature, each is less than the
 * store's limit. Together they are enough for the largest request body.
 */
const PART_BYTES = [30_000, 36_000] as const;
const MAX_BYTES = PART_BYTES[0] + PART_BYTES[1];

export const evidenceRecord = defineRecord<Part>({
  name: "evidence",
  keyParts: ["resource id and purpose", "number of the part"],
  what: "A piece of evidence, in parts: what a party sent or saw, its signature and its salt.",
  schema: z.looseObject({
    signature: optional(text),
    salt: optional(text),
    bytes: text,
    personalData: optional(personalDataMember),
  }),
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
  if (bytes.length > MAX_BYTES) throw new Error(`${place} is larger than evidence may be`);
  const [first] = PART_BYTES;
  evidenceRecord.set(tx, evidenceKey(place, 0), { ...rest, bytes: base64url(bytes.slice(0, first)) });
  if (bytes.length <= first) return;
  evidenceRecord.set(tx, evidenceKey(place, 1), { bytes: base64url(bytes.slice(first)) });
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
  const { bytes: _, personalData = PRESENT, ...rest } = first;
  if (personalData.state !== "present") return personalData.state === "lost" ? "lost" : null;
  const bytes = [first, ...more].flatMap((part) => part === undefined ? [] : [bytesOf(part)]);
  return { ...rest, bytes: new Uint8Array(await new Blob(bytes).arrayBuffer()) };
}

function bodyKeys(place: string): readonly Key[] {
  return PART_BYTES.map((_, part) => evidenceKey(place, part));
}

function bytesOf({ bytes }: Part): Uint8Array<ArrayBuffer> {
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

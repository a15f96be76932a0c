/**
 * Stores documents that many history entries name by their SHA-256: public keys with their certificates, and software
 * statements. Each is stored once and never changes, so that signatures can be verified after every key was replaced.
 */
import { z } from "zod";
import { defineRecord, text } from "../../base/store/record.ts";
import { evidenceDocumentKey } from "../config/store_keys.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { digest } from "./digest.ts";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { OwnKey } from "../../base/jose/own_key.ts";

/** A document and its name. Make it once and keep the object: it is staged until a commit of it has succeeded. */
export interface SharedDocument {
  /** SHA-256 of the text in UTF-8, base64url. */
  readonly sha256: string;
  readonly text: string;
}

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

export function sharedDocument(text: string): SharedDocument {
  return { sha256: digest(text), text };
}

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

/** Public keys as documents, so that a signature can be verified when its key is no longer published. */
import canonicalize from "canonicalize";
import type { JsonObject } from "../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../base/jose/key_ring.ts";
import type { OwnKey } from "../../base/jose/own_key.ts";
import { type SharedDocument, sharedDocument } from "./document_store.ts";

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

/**
 * Pieces of evidence: what a party sent or saw in one step of a consent or a payment. A history entry names each piece
 * by its kind and digest. `docs/contract/evidence.md` specifies both, so that others can recompute them. No I/O.
 */
import { base64url } from "../../base/kernel/identifiers.ts";
import { digest, digestBytes } from "./digest.ts";
import type { WallTime } from "../../base/kernel/clock.ts";
import canonicalize from "canonicalize";
import { type Hash, leafHash as treeLeafHash } from "../../base/merkle/tree.ts";

/** The kinds of evidence. A kind is never renamed, because entries name it. */
export type EvidenceKind =
  /** The TPP's request that created the consent, with its payload signature. */
  | "consent_request"
  /** The bank's report of the payer's accounts, with its payload signature. */
  | "payer_accounts"
  /** The form of the pushed authorization request, without the client's authentication. */
  | "pushed_request"
  /** The handover JWT that the platform signed for the bank. */
  | "handover"
  /** The bank's result JWT, decrypted: the proof that the bank has authenticated the customer. */
  | "sca_result"
  /** The customer's decision on the platform's screen, and what the screen showed. */
  | "decision"
  /** The payment order that the platform signed and pushed to the bank. */
  | "order"
  /** The bank's response to the order. */
  | "order_response"
  /** The TPP's request that created the payment, with its payload signature. */
  | "payment_request"
  /** The bank's report of a payment status, with its payload signature. */
  | "status_report"
  /** The entry for the payment in the bank's statement after a restore. */
  | "stated_order"
  /** A statement of the TPP in a dispute, with its payload signature. */
  | "tpp_dispute"
  /** A statement of the bank in a dispute, with its payload signature. */
  | "bank_dispute"
  /** Which cases retention has erased or deleted. */
  | "retention";

/** The kinds of documents that an entry names beside its own evidence. */
export type DocumentKind = "tpp_statement" | "bank_statement";

/** A piece of evidence as the caller of `record` has it. */
export interface Evidence {
  readonly kind: EvidenceKind;
  readonly bytes: Uint8Array;
  /** The detached JWS over the bytes, if they do not contain their signature. */
  readonly signature?: string;
  /** The key that verifies the signature. */
  readonly key?: SharedDocument | undefined;
}

/** A document and its name. Make it once and keep the object: it is staged until a commit of it has succeeded. */
export interface SharedDocument {
  /** SHA-256 of the text in UTF-8, base64url. */
  readonly sha256: string;
  readonly text: string;
}

export function sharedDocument(text: string): SharedDocument {
  return { sha256: digest(text), text };
}

/** The content of a stored piece of evidence. */
export interface EvidenceBody {
  readonly bytes: Uint8Array;
  readonly signature?: string;
  /** 16 random bytes, base64url. Without it the digest cannot be compared with guessed contents. */
  readonly salt?: string;
}

/** A piece of evidence as its history entry names it. */
export interface EvidenceItem {
  readonly kind: string;
  /** {@link bodyDigest} of its body. */
  readonly sha256: string;
  /** SHA-256 of the document of the key that verifies its signature. */
  readonly key?: string;
}

/** A software statement as the entry names it. The registration has stored it. */
export interface NamedDocument {
  readonly kind: string;
  readonly sha256: string;
}

/** Returns 16 random bytes, base64url. */
export function newSalt(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Returns the digest of a body: SHA-256(salt ‖ SHA-256(bytes) ‖ SHA-256(signature)). An absent member is empty. */
export function bodyDigest({ bytes, signature = "", salt = "" }: EvidenceBody): string {
  return digest(
    Uint8Array.fromBase64(salt, { alphabet: "base64url" }),
    digestBytes(bytes),
    digestBytes(signature),
  );
}

/** Returns the name of an entry's piece of evidence, by which it is stored. An entry has one piece of a kind. */
export function evidencePlace(subject: string, sequence: number, kind: string): string {
  return `${subject} ${sequence} ${kind}`;
}

// History entries as evidence: their canonical form and its hash, the leaf of the log. `docs/contract/evidence.md`
// specifies both. No I/O.

/** A page as the customer read it: its language, and the SHA-256 (base64url) of its facts. */
export interface ShownPage {
  readonly language: string;
  readonly sha256: string;
}

/** How the participant of a request was authenticated. */
export interface Authentication {
  readonly clientId: string;
  /** SHA-256 of the SubjectPublicKeyInfo of its TLS certificate, base64url. */
  readonly certificate: string;
  readonly method: string;
  /** URL of the endpoint, without a query. */
  readonly target: string;
  /**
   * Of its client assertion, at the token and PAR endpoints: its kid, and the SHA-256 of its jti, base64url, because a
   * jti may contain any character.
   */
  readonly assertion?: { readonly kid: string; readonly jtiHash: string };
  /** SHA-256 of the access token, base64url, at resource endpoints. */
  readonly token?: string;
  /**
   * The DPoP proof as received. Its signature covers method and URL, with the id in it, which a payload signature does
   * not name.
   */
  readonly proof?: string;
}

/** Grants that the platform has issued in a step: SHA-256 of their texts, base64url. */
export interface Issued {
  readonly code?: string;
  readonly token?: string;
}

/** An entry of a history, as stored. */
export interface AuditEntry {
  /** Milliseconds. */
  readonly at: WallTime;
  /** `<area>.<what>`, such as `consent.authorised`. */
  readonly event: string;
  /** A client id, `customer`, `clock` or `platform`. */
  readonly actor: string;
  readonly reason?: string;
  /** The page on which a customer decided, if the decision was made on the platform's screen. */
  readonly page?: ShownPage;
  /** Position in its history: 1, 2, 3 … */
  readonly sequence: number;
  /** Leaf hash of the entry before it in its history, base64url. Absent in the first. */
  readonly previous?: string;
  /** Of the request that caused the change; absent if none did. */
  readonly interactionId?: string;
  /** How the participant of the request was authenticated; absent if no participant sent it. */
  readonly authentication?: Authentication;
  readonly issued?: Issued;
  /** The software statements in force. */
  readonly documents?: readonly NamedDocument[];
  /** Places of the evidence of earlier entries that was deleted in this step. */
  readonly deleted?: readonly string[];
  /** 16 random bytes, base64url. The hash of an entry cannot be compared with guessed entries. */
  readonly salt: string;
  /** The evidence of this step, by digest. */
  readonly items?: readonly EvidenceItem[];
}

/** Returns the RFC 8785 form of an entry: all its stored members, and `subject`, the resource of its history. */
export function canonicalEntry(subject: string, entry: AuditEntry): string {
  return canonicalize({ ...entry, subject }) ?? "";
}

/** Returns the entry's leaf hash: SHA-256(0x00 ‖ canonical entry) (RFC 9162 §2.1.1). */
export function leafHash(subject: string, entry: AuditEntry): Hash {
  return treeLeafHash(new TextEncoder().encode(canonicalEntry(subject, entry)));
}

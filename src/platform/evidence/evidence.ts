/**
 * Pieces of evidence: what a party sent or saw in one step of a consent or a payment. A history entry names each piece
 * by its kind and digest. `docs/contract/evidence.md` specifies both, so that others can recompute them. No I/O.
 */
import { base64url } from "../../base/kernel/identifiers.ts";
import { digest, digestBytes } from "./digest.ts";
import type { SharedDocument } from "./document_store.ts";

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
  /** Where it is stored, if another reader than the case file must find it. */
  readonly place?: string;
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
  /** Where the body is stored; absent if it is {@link usualPlace}. */
  readonly place?: string;
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

/** Returns where the body of an entry's piece of evidence is stored. An entry has one piece of a kind. */
export function usualPlace(subject: string, sequence: number, kind: string): string {
  return `${subject} ${sequence} ${kind}`;
}

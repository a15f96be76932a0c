/**
 * History entries as evidence: their canonical form and its hash, the leaf of the log. `docs/contract/evidence.md`
 * specifies both. No I/O.
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import canonicalize from "canonicalize";
import type { EvidenceItem, NamedDocument } from "./evidence.ts";
import { type Hash, leafHash as treeLeafHash } from "../../base/merkle/tree.ts";

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

/**
 * Signs and encrypts mutated texts with the parties' keys and records every text it made. Any other text that is
 * accepted as signed is a forgery. Makes JWS and JWE by hand, independent of the platform's code.
 */
import { concat, ps256, rawJwe, rawJws, segment } from "../../testing/raw_jws.ts";

/** The kind of a compact token. A token of one kind must not be accepted as another. */
export type TokenKind = "assertion" | "proof" | "registration" | "statement" | "return";

/** How a detached signature covers its payload: A raw, B as base64url. */
export type Coverage = "A" | "B";

/** The records of a run, and its signers. */
export interface Resigner {
  /** A compact JWS over exactly this header and payload. */
  sign(kind: TokenKind, key: CryptoKey, header: string, payload: string | Uint8Array): Promise<string>;
  /** `x-jws-signature` over exactly this header and body. */
  signBody(key: CryptoKey, header: string, body: Uint8Array, coverage: Coverage): Promise<string>;
  /** A JWE to the platform under exactly this header. */
  seal(to: CryptoKey, header: string, inner: string): Promise<string>;
  /** Records a sample's own text as signed by its party, until the end of the run. */
  trust(kind: TokenKind, token: string): void;
  trustBody(signature: string, body: Uint8Array, coverage: Coverage): void;
  trustSealed(sealed: string, inner: string): void;
  isSigned(kind: TokenKind, token: string): boolean;
  /** How the signature covers exactly this body; undefined if the two were not signed together. */
  coverageOf(signature: string, body: Uint8Array): Coverage | undefined;
  /** The content of an encrypted text; undefined if it was not encrypted here. */
  sealedIn(sealed: string): string | undefined;
  /** Forgets all texts that were not recorded with `trust`. */
  forget(): void;
}

interface Memory {
  readonly tokens: Set<string>;
  readonly bodies: Map<string, Coverage>;
  readonly sealed: Map<string, string>;
}

/** Starts without records. */
export function openResigner(): Resigner {
  const trusted = emptyMemory();
  let recent = emptyMemory();
  return {
    async sign(kind, key, header, payload) {
      const token = await rawJws(key, header, payload);
      recent.tokens.add(`${kind} ${token}`);
      return token;
    },
    async signBody(key, header, body, coverage) {
      const signature = await signDetached(key, header, body, coverage);
      recent.bodies.set(together(signature, body), coverage);
      return signature;
    },
    async seal(to, header, inner) {
      const sealed = await rawJwe({ header, plaintext: inner, to });
      recent.sealed.set(sealed, inner);
      return sealed;
    },
    trust: (kind, token) => void trusted.tokens.add(`${kind} ${token}`),
    trustBody: (signature, body, coverage) => void trusted.bodies.set(together(signature, body), coverage),
    trustSealed: (sealed, inner) => void trusted.sealed.set(sealed, inner),
    isSigned: (kind, token) => [trusted, recent].some(({ tokens }) => tokens.has(`${kind} ${token}`)),
    coverageOf: (signature, body) =>
      trusted.bodies.get(together(signature, body)) ?? recent.bodies.get(together(signature, body)),
    sealedIn: (sealed) => trusted.sealed.get(sealed) ?? recent.sealed.get(sealed),
    forget: () => void (recent = emptyMemory()),
  };
}

function emptyMemory(): Memory {
  return { tokens: new Set(), bodies: new Map(), sealed: new Map() };
}

/** Makes an `x-jws-signature` that is not recorded. */
export async function signDetached(
  key: CryptoKey,
  header: string,
  body: Uint8Array,
  coverage: Coverage,
): Promise<string> {
  const protectedSegment = segment(header);
  const payload = coverage === "A" ? body : segment(body);
  return `${protectedSegment}..${await ps256(key, concat(`${protectedSegment}.`, payload))}`;
}

/** The decoded text of a token's segment; undefined if it is not text in base64url. */
export function segmentText(token: string, index: number): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(token.split(".")[index] ?? "", { alphabet: "base64url" });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function together(signature: string, body: Uint8Array): string {
  return `${signature} ${body.toBase64()}`;
}

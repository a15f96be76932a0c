/** SHA-256 without a promise, so that a history entry and its digests are staged in one step. */
import { sha256 } from "@noble/hashes/sha2.js";
import { base64url } from "../../base/kernel/identifiers.ts";

const UTF8 = new TextEncoder();

/** Returns the SHA-256 of the parts, one after the other. Texts count as UTF-8. */
export function digestBytes(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const hash = sha256.create();
  for (const part of parts) hash.update(typeof part === "string" ? UTF8.encode(part) : part);
  return Uint8Array.from(hash.digest());
}

/** Like {@link digestBytes}, in base64url: 43 characters. */
export function digest(...parts: readonly (string | Uint8Array)[]): string {
  return base64url(digestBytes(...parts));
}

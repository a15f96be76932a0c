/** PKCE with S256 only (RFC 7636 §4). */
import { sha256 } from "../../../base/kernel/identifiers.ts";

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/; // a SHA-256 is always 43 characters
/** RFC 7636 §4.1. */
export const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Whether the text has the form of an S256 challenge or a JWK thumbprint: both are a SHA-256 in base64url. */
export function isSha256Text(text: string): boolean {
  return CHALLENGE.test(text);
}

/** Whether the verifier is well formed and matches the challenge (RFC 7636 §4.6). */
export async function matchesChallenge(verifier: string, challenge: string): Promise<boolean> {
  return VERIFIER.test(verifier) && await sha256(verifier) === challenge;
}

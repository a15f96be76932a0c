/**
 * Names that cannot be bank codes: a bank's code is the first segment of its addresses, and these segments lead
 * elsewhere. `platform/http/endpoint.ts` rejects to mount a route whose first segment a bank could have.
 */

/** First segments of fixed paths that have the form of a bank code, in lower case. */
const FIRST_SEGMENTS: ReadonlySet<string> = new Set([
  "assets",
  "docs",
  "health",
  "jwks",
  "operations",
  "problem",
  "register",
]);

/** Whether the name is reserved, in any case: a proxy may compare without it. */
export function isReservedName(name: string): boolean {
  return FIRST_SEGMENTS.has(name.toLowerCase()) || name in Object.prototype;
}

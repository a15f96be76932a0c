/**
 * Names that a bank code must not have, because a bank's code is the first segment of its paths and these segments
 * have other routes. `platform/http/endpoint.ts` throws if a route's first segment could be a bank code.
 */

/** First segments of fixed paths in lower case that have the form of a bank code. */
const FIRST_SEGMENTS: ReadonlySet<string> = new Set([
  "assets",
  "docs",
  "health",
  "jwks",
  "operations",
  "problem",
  "register",
]);

/** Whether the name is reserved, in any case, because a proxy may compare paths without case. */
export function isReservedName(name: string): boolean {
  return FIRST_SEGMENTS.has(name.toLowerCase()) || name in Object.prototype;
}

/** What the query of a registered redirect URL must not have. */

/** The parameters that the platform adds to the URL of each role. */
const ADDED = {
  /** RFC 6749 §4.1.2; RFC 9207 §2; `response` of JARM. */
  PISP: ["code", "state", "iss", "error", "error_description", "error_uri", "response"],
  ASPSP: ["oAuthUrl"],
} as const;

/**
 * Returns the first parameter of the URL's query that the platform adds to it, or undefined. A client rejects an answer
 * that has a parameter twice (RFC 6749 §3.1), so its customers could never finish.
 */
export function addedParameterIn(url: string, role: keyof typeof ADDED): string | undefined {
  const query = URL.parse(url)?.searchParams;
  return ADDED[role].find((name) => query?.has(name));
}

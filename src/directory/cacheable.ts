/** Public responses with short cache lifetimes and revalidation (RFC 9110 §8.8, §13.1.2; RFC 9111 §5.2). */
import type { Context } from "hono";
import { sha256 } from "../base/kernel/identifiers.ts";

const CACHE_CONTROL = {
  /** May be reused for a minute without revalidation. */
  shortly: "public, max-age=60",
  /** Revalidated at each use, so that an intermediate cache cannot delay a revocation beyond Decision A9's 300 s. */
  revalidated: "public, no-cache",
} as const;

/** Returns the body, or 304 if the client already has it. */
export async function cacheable(
  c: Context,
  body: string,
  contentType: string,
  kept: keyof typeof CACHE_CONTROL = "shortly",
): Promise<Response> {
  const tag = `"${await sha256(body)}"`;
  c.header("etag", tag);
  c.header("cache-control", CACHE_CONTROL[kept]);
  if (names(c.req.header("if-none-match"), tag)) return c.body(null, 304);
  c.header("content-type", contentType);
  return c.body(body);
}

// Weak comparison (RFC 9110 §8.8.3.2).
function names(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((one) => one.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(tag);
}

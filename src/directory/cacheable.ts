/** Public answers that others may keep for a short while and ask about again (RFC 9110 8.8, 13.1.2; RFC 9111 5.2). */
import type { Context } from "hono";
import { sha256 } from "../kernel/identifiers.ts";

/** How long a copy may be used unasked, seconds: what a revocation may be late by, far below Decision A9's 300. */
const MAX_AGE_SECONDS = 60;

/** Answers with the body, or with 304 where the caller has it already. */
export async function cacheable(c: Context, body: string, contentType: string): Promise<Response> {
  const tag = `"${await sha256(body)}"`;
  c.header("etag", tag);
  c.header("cache-control", `public, max-age=${MAX_AGE_SECONDS}`);
  if (names(c.req.header("if-none-match"), tag)) return c.body(null, 304);
  c.header("content-type", contentType);
  return c.body(body);
}

// Weak comparison (RFC 9110 8.8.3.2).
function names(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((one) => one.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(tag);
}

/** Public responses with short cache lifetimes and revalidation (RFC 9110 §8.8, §13.1.2; RFC 9111 §5.2). */
import type { Context } from "hono";
import { answerDocument, textDocument } from "../../base/http/public_document.ts";

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
  return answerDocument(c, await textDocument(body, contentType), CACHE_CONTROL[kept]);
}

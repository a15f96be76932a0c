/**
 * Serves public documents with an entity tag, and 304 if the client has the document. Documents that do not change
 * while the process runs are encoded and tagged once.
 */
import type { Context } from "hono";
import { base64url, sha256Bytes } from "../kernel/identifiers.ts";

export interface PublicDocument {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Strong entity tag (RFC 9110 §8.8.3). */
  readonly etag: string;
}

/** Caches may serve it for five minutes without revalidation (contract MD8). */
export const PUBLIC_CACHE = "public, max-age=300";

/**
 * Opens a cache of documents. The first request for a name makes the document. Names must come from a closed set,
 * because entries are never removed.
 */
export function documentStore(): (
  name: string,
  contentType: string,
  make: () => string | Uint8Array<ArrayBuffer>,
) => Promise<PublicDocument> {
  const made = new Map<string, Promise<PublicDocument>>();
  return (name, contentType, make) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const content = make();
    const fresh = typeof content === "string"
      ? textDocument(content, contentType)
      : tagDocument(content, contentType);
    made.set(name, fresh);
    return fresh;
  };
}

export async function textDocument(text: string, contentType: string): Promise<PublicDocument> {
  return await tagDocument(new TextEncoder().encode(text), contentType);
}

async function tagDocument(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<PublicDocument> {
  return { bytes, contentType, etag: `"${base64url(await sha256Bytes(bytes))}"` };
}

/** Sends the document, or 304 if the caller has it (RFC 9110 §13.1.2). */
export function answerDocument(
  c: Context,
  { bytes, contentType, etag }: PublicDocument,
  cacheControl: string = PUBLIC_CACHE,
): Response {
  c.header("cache-control", cacheControl);
  c.header("etag", etag);
  if (names(c.req.header("if-none-match"), etag)) return c.body(null, 304);
  c.header("content-type", contentType);
  return c.body(bytes);
}

// Weak comparison (RFC 9110 §8.8.3.2): a proxy that compresses makes the tag weak.
function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

/**
 * Bounds the platform's outgoing requests: which addresses it may call, how often, and how much of a response it reads. A URL in
 * a validly signed statement is still input of another party (RFC 8725 §3.10).
 */

export interface OutgoingRules {
  /** Sandbox only: http and https on this computer's loopback addresses (Decision A9). */
  readonly loopback: boolean;
}

/**
 * Whether the platform may call this URL: https, a public host name, and no credentials. No request is sent to find
 * out.
 */
export function isCallable(text: string, { loopback }: OutgoingRules): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (isLoopback(url.hostname)) return loopback && (url.protocol === "https:" || url.protocol === "http:");
  return url.protocol === "https:" && isPublicName(url.hostname);
}

/**
 * Reads the text of a response. Returns undefined if it is not UTF-8 or has more than `maxBytes`; the rest is then
 * not read.
 *
 * @throws {TypeError} if the connection breaks off
 */
export async function readBounded(response: Response, maxBytes: number): Promise<string | undefined> {
  const bytes = await readBoundedBytes(response, maxBytes);
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads the body of a response. Returns undefined if it has more than `maxBytes`; the rest is then not read.
 *
 * @throws {TypeError} if the connection breaks off
 */
export async function readBoundedBytes(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) return undefined; // leaving the loop cancels the stream
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 ? only : new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/**
 * Sends a POST at most once. Redirects are not followed.
 *
 * @param fetch the fetch of the composed program, which must not send a POST again by itself (`Runtime.fetch`)
 * @throws {TypeError} if there is no response. The server may have read the request or not.
 */
export function postOnce(
  fetch: typeof globalThis.fetch,
  url: string,
  request: Pick<RequestInit, "headers" | "body" | "signal">,
): Promise<Response> {
  return fetch(url, { ...request, method: "POST", redirect: "manual" });
}

/** Whether a host name is one of this computer's loopback names. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

// The WHATWG URL parser has already normalized every spelling of an IPv4 address to four decimal numbers.
function isPublicName(hostname: string): boolean {
  const labels = hostname.replace(/\.$/, "").split(".");
  const last = labels.at(-1) ?? "";
  return labels.length >= 2 && /^[a-z]/.test(last) && !["localhost", "local", "internal"].includes(last);
}

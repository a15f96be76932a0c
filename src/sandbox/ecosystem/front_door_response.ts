/** An answer at the TLS front door, from Fetch's form to Node's. Adds nothing of its own but `Date`. */
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

const hopByHop = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Writes a Fetch response; rejects when the caller goes away or the body breaks off. */
export async function sendResponse(
  response: Response,
  method: string,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) {
    if (name !== "set-cookie" && !hopByHop.has(name)) outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  if (response.body === null || method === "HEAD" || isBodiless(response.status)) {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  await pipeline(response.body, outgoing);
}

/** Writes an answer of the front door's own, in plain words. */
export function sendPlain(status: number, text: string, outgoing: ServerResponse): void {
  outgoing.statusCode = status;
  outgoing.setHeader("content-type", "text/plain; charset=utf-8");
  outgoing.setHeader("cache-control", "no-store");
  outgoing.end(`${text}\n`);
}

// RFC 9110 §6.4.1
function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

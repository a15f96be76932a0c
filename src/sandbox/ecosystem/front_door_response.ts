/** Converts a response at the TLS front door from Fetch's form to Node's. Adds only `Date`. */
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

const hopByHop = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Writes a Fetch response; rejects if the caller disconnects or the body fails. */
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

/** Writes a plain-text response of the front door itself. */
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

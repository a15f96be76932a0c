/**
 * One request at the TLS front door, from Node's form to Fetch's. Decides which headers may pass: whatever a
 * proxy would say about the connection is said here and never by the caller (RFC 9440 §2.4).
 */
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

/** What the front door adds to a request and where it sends it. */
export interface Forwarding {
  /** Origin that requests are for, whatever the request target or `Host` say. */
  readonly baseUrl: string;
  /** Value of `x-proxy-secret`. */
  readonly proxySecret: string;
  /** Larger bodies are rejected. */
  readonly maxBodyBytes: number;
}

/** A request that gets an answer of its own and is not forwarded. */
export class RejectedRequest extends Error {
  override readonly name = "RejectedRequest";
  constructor(readonly status: 400 | 401 | 405 | 413, message: string) {
    super(message);
  }
}

// RFC 9110 §7.6.1, and the members of a proxy's own conversation with its client.
const hopByHop = new Set([
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const spoofable =
  /^(client-cert|x-proxy-secret|x-forwarded|forwarded|x-real-ip|x-ssl-|ssl-client|x-client-cert)/;

// Fetch has no such requests.
const unsupportedMethods = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * The Fetch request of a Node request, with the certificate of its own TLS session.
 * @throws {RejectedRequest} when it must not be forwarded
 */
export async function toFetchRequest(
  incoming: IncomingMessage,
  forwarding: Forwarding,
  signal: AbortSignal,
): Promise<Request> {
  const method = incoming.method ?? "GET";
  if (unsupportedMethods.has(method.toUpperCase())) throw new RejectedRequest(405, "Method not allowed");
  const url = targetUrl(forwarding.baseUrl, incoming.url ?? "/");
  const headers = forwardedHeaders(incoming.rawHeaders);
  headers.set("client-cert", `:${peerCertificate(incoming).toBase64()}:`);
  headers.set("x-proxy-secret", forwarding.proxySecret);
  const body = await readBody(incoming, forwarding.maxBodyBytes);
  if (method === "GET" || method === "HEAD") { // Fetch gives these no body
    headers.delete("content-length");
    return new Request(url, { method, headers, signal });
  }
  return new Request(url, { method, headers, body, signal });
}

/**
 * The headers that may pass, repeated ones joined with ", ".
 * @throws {RejectedRequest} when one cannot be a header
 */
export function forwardedHeaders(rawHeaders: readonly string[]): Headers {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""] as const] : []
  );
  const named = new Set(
    pairs.filter(([name]) => name === "connection").flatMap(([, value]) =>
      value.toLowerCase().split(/[\s,]+/)
    ),
  );
  const headers = new Headers();
  for (const [name, value] of pairs) {
    if (hopByHop.has(name) || named.has(name) || isSpoofable(name)) continue;
    try {
      headers.append(name, value);
    } catch {
      throw new RejectedRequest(400, "Bad request");
    }
  }
  return headers;
}

/** True for a name that speaks for the proxy, also where a back end would read `_` or `.` as `-`. */
function isSpoofable(name: string): boolean {
  return spoofable.test(name.replace(/[_.]/g, "-"));
}

/** Only path and query of the target count, also of one in absolute form (`GET https://other/path`). */
function targetUrl(baseUrl: string, target: string): string {
  if (target.startsWith("/")) return baseUrl + target;
  const absolute = URL.parse(target);
  if (absolute === null) throw new RejectedRequest(400, "Bad request");
  return baseUrl + absolute.pathname + absolute.search;
}

/** DER of the certificate that this very connection was made with. */
function peerCertificate(incoming: IncomingMessage): Uint8Array<ArrayBuffer> {
  const socket = incoming.socket;
  // The handshake guarantees both; a request without them is no request of ours.
  if (!(socket instanceof TLSSocket) || !socket.authorized) {
    throw new RejectedRequest(401, "No client certificate");
  }
  const certificate = socket.getPeerCertificate(true);
  if (!certificate?.raw?.length) throw new RejectedRequest(401, "No client certificate");
  return Uint8Array.from(certificate.raw);
}

function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new RejectedRequest(413, "Content too large");
  const incomplete = new RejectedRequest(400, "Incomplete request");
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return Promise.reject(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    incoming.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge);
      else chunks.push(chunk);
    });
    incoming.once("end", () => resolve(joined(chunks, size)));
    incoming.once("error", () => reject(incomplete));
    incoming.once("close", () => reject(incomplete));
  });
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

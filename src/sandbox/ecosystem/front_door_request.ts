/**
 * Converts a request at the TLS front door from Node's form to Fetch's. Decides which headers may pass: headers about
 * the connection are set here and never accepted from the caller (RFC 9440 §2.4).
 */
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

/** Settings for forwarding a request. */
export interface Forwarding {
  /** Origin of every forwarded request, regardless of the request target and `Host`. */
  readonly baseUrl: string;
  /** Value of `x-proxy-secret`. */
  readonly proxySecret: string;
  /** Larger bodies are rejected. */
  readonly maxBodyBytes: number;
}

/** A request that is answered with an error and not forwarded. */
export class RejectedRequest extends Error {
  override readonly name = "RejectedRequest";
  constructor(readonly status: 400 | 401 | 405 | 413, message: string) {
    super(message);
  }
}

// RFC 9110 §7.6.1, and headers between a proxy and its client.
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

// Fetch cannot represent these methods.
const unsupportedMethods = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Converts a Node request to a Fetch request, with the certificate of its TLS session.
 * @throws {RejectedRequest} if it must not be forwarded
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
  if (method === "GET" || method === "HEAD") { // Fetch allows no body for these methods
    headers.delete("content-length");
    return new Request(url, { method, headers, signal });
  }
  return new Request(url, { method, headers, body, signal });
}

/**
 * The headers that may pass, repeated ones joined with ", ".
 * @throws {RejectedRequest} if one is not a valid header
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

/** Returns whether a back end could take this header for one of the proxy's own, also if it reads `_` or `.` as `-`. */
function isSpoofable(name: string): boolean {
  return spoofable.test(name.replace(/[_.]/g, "-"));
}

/** Uses only path and query of the target, also if it is in absolute form (`GET https://other/path`). */
function targetUrl(baseUrl: string, target: string): string {
  if (target.startsWith("/")) return baseUrl + target;
  const absolute = URL.parse(target);
  if (absolute === null) throw new RejectedRequest(400, "Bad request");
  return baseUrl + absolute.pathname + absolute.search;
}

/** DER of the client certificate of this connection. */
function peerCertificate(incoming: IncomingMessage): Uint8Array<ArrayBuffer> {
  const socket = incoming.socket;
  // The handshake guarantees both.
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
    incoming.once("end", () => resolve(joinChunks(chunks, size)));
    incoming.once("error", () => reject(incomplete));
    incoming.once("close", () => reject(incomplete));
  });
}

function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * HTTP with a participant's network certificate at every TLS handshake. Trusts the given CA besides the public ones,
 * follows no redirects, and bounds the time and the answer of every call.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request as open } from "node:https";
import { rootCertificates } from "node:tls";
import type { Fetch, HttpRequest, MutualTls } from "./http_request.ts";
import type { TransportIdentity } from "./participant.ts";

// The platform waits up to 3 s for a bank before it responds to a payment (Decision D4).
const timeoutMilliseconds = 15_000;

/** A client that presents `identity` and trusts `caPem`, if given, besides the public authorities, on Deno by its own fetch, elsewhere by `node:https`. */
export function openMutualTls(identity: TransportIdentity, caPem?: string): MutualTls {
  const send = "Deno" in globalThis ? openDenoFetch(identity, caPem) : openHttps(identity, caPem);
  return { fetch: boundFetch(send.fetch), close: send.close };
}

/**
 * A `fetch` that presents the network certificate by itself, such as one with `undici`'s Agent, with `tls` of Bun, or
 * with `Deno.createHttpClient`. It must not follow a redirect that it is told not to follow.
 */
export type MutualTlsFetch = (url: string, init: RequestInit) => Promise<Response>;

/** The caller's own fetch, with the time and the answer of every call bounded and redirects not followed. */
export function ownFetch(given: MutualTlsFetch): Fetch {
  return boundFetch((url, { method, headers, body = null, signal = null }) =>
    given(url, { method, headers, body, signal, redirect: "manual" })
  );
}

function boundFetch(send: Fetch): Fetch {
  return async (url, request) => {
    const signal = request.signal ?? AbortSignal.timeout(timeoutMilliseconds);
    return boundAnswer(await send(url, { ...request, signal }));
  };
}

function boundAnswer(response: Response): Response {
  if (response.body === null) return response;
  let length = 0;
  const bound = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, controller): void {
      length += part.length;
      if (length <= MAX_ANSWER_BYTES) controller.enqueue(part);
      else controller.error(new TypeError(`The body has more than ${MAX_ANSWER_BYTES} bytes`));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}

/** One connection costs a fifteenth of the CPU time of `node:https` on Deno. */
function openDenoFetch(identity: TransportIdentity, caPem?: string): MutualTls {
  const client = Deno.createHttpClient({
    caCerts: caPem === undefined ? [] : [caPem],
    cert: identity.certPem,
    key: identity.keyPem,
    // Deno's fetch repeats a request by itself if a kept connection ends, and its single-use proof would be rejected.
    poolMaxIdlePerHost: 0,
  });
  return {
    fetch: (url, { method, headers, body = null, signal }) =>
      // A redirect could send the certificate, the token and the proof to another host.
      fetch(url, { method, headers, body, redirect: "manual", signal: signal ?? null, client }),
    close: () => client.close(),
  };
}

/** The largest body that is read, bytes. The platform's are smaller. */
const MAX_ANSWER_BYTES = 1_048_576;

/**
 * Opens a client for runtimes whose fetch takes no client certificate. It follows no redirects, presents `identity`, and
 * trusts `caPem`, if given, besides the public authorities.
 */
export function openHttps({ certPem, keyPem }: TransportIdentity, caPem?: string): MutualTls {
  const agent = new Agent({
    cert: certPem,
    key: keyPem,
    ca: [...rootCertificates, ...(caPem === undefined ? [] : [caPem])],
    keepAlive: false, // a request on a kept connection that has just ended would fail
  });
  return {
    fetch: async (url, request) => {
      if (url.startsWith("http:")) return await plainFetch(url, request); // a sandbox on this computer
      const response = await send(agent, url, request);
      const body = await read(response).catch((error: unknown) => {
        throw failureOf(error, request.signal);
      });
      const status = response.statusCode ?? 0;
      return new Response(body.length === 0 ? null : body, { status, headers: headersOf(response) });
    },
    close: () => agent.destroy(),
  };
}

async function plainFetch(
  url: string,
  { method, headers, body = null, signal }: HttpRequest,
): Promise<Response> {
  return await fetch(url, { method, headers, body, redirect: "manual", signal: signal ?? null });
}

/** @throws {TypeError} without an answer, as fetch does. */
async function send(agent: Agent, url: string, request: HttpRequest): Promise<IncomingMessage> {
  const { method, signal } = request;
  const body = request.body?.toString() ?? "";
  const headers: Record<string, string | number> = { ...request.headers };
  if (request.body instanceof URLSearchParams) {
    headers["content-type"] ??= "application/x-www-form-urlencoded;charset=UTF-8";
  }
  if (method !== "GET") headers["content-length"] = new TextEncoder().encode(body).length;
  return await new Promise((resolve, reject) => {
    const sent = open(url, { method, headers, agent, ...(signal === undefined ? {} : { signal }) }, resolve);
    sent.on("error", (cause) => reject(failureOf(cause, signal)));
    sent.end(body);
  });
}

/** An answer that does not come, or is cut, as fetch reports it: the signal's reason, or a TypeError. */
function failureOf(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  return new TypeError(cause instanceof Error ? cause.message : String(cause), { cause });
}

async function read(response: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new TypeError(`The body has more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  return headers;
}

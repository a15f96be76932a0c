/** Requests with a client certificate by `node:https`, for runtimes whose fetch takes none. Follows no redirects. */
import type { IncomingMessage } from "node:http";
import { Agent, request as open } from "node:https";
import { rootCertificates } from "node:tls";
import type { HttpRequest, MutualTls } from "./http_request.ts";
import type { TransportIdentity } from "./participant.ts";

/** The largest body that is read, bytes. The platform's are smaller. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Opens a client that presents `identity` and trusts `caPem`, if given, besides the public authorities. */
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

/**
 * HTTP with a participant's network certificate at every TLS handshake. Trusts the given CA besides the public ones,
 * follows no redirects, and bounds the time and the answer of every call.
 */
import type { Fetch, MutualTls } from "./http_request.ts";
import { MAX_ANSWER_BYTES, openHttps } from "./https_fetch.ts";
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

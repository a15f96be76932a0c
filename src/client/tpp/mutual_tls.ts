/**
 * HTTP with a participant's network certificate at every TLS handshake. Trusts the given CA besides the public ones,
 * follows no redirects, and bounds the time of every call.
 */
import type { MutualTls } from "./http_request.ts";
import { openHttps } from "./https_fetch.ts";
import type { TransportIdentity } from "./participant.ts";

// The platform waits up to 3 s for a bank before it responds to a payment (Decision D4).
const timeoutMilliseconds = 15_000;

/** A client that presents `identity` and trusts `caPem`, on Deno by its own fetch, elsewhere by `node:https`. */
export function openMutualTls(identity: TransportIdentity, caPem: string): MutualTls {
  const send = "Deno" in globalThis ? openDenoFetch(identity, caPem) : openHttps(identity, caPem);
  return {
    fetch: (url, request) =>
      send.fetch(url, { ...request, signal: request.signal ?? AbortSignal.timeout(timeoutMilliseconds) }),
    close: send.close,
  };
}

/** One connection costs a fifteenth of the CPU time of `node:https` on Deno. */
function openDenoFetch(identity: TransportIdentity, caPem: string): MutualTls {
  const client = Deno.createHttpClient({
    caCerts: [caPem],
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

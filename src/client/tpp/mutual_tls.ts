/**
 * HTTP with a participant's network certificate at every TLS handshake. Trusts the given CA besides the public ones,
 * follows no redirects, and bounds the time of every call.
 */
import type { TransportIdentity } from "./participant.ts";

/** One HTTP request, as oauth4webapi, jose and this library make them. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | URLSearchParams | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends one request and does not follow redirects. */
export type Fetch = (url: string, request: HttpRequest) => Promise<Response>;

/** An open mTLS client. `close` frees its connections. */
export interface MutualTls {
  readonly fetch: Fetch;
  close(): void;
}

// The platform waits up to 3 s for a bank before it responds to a payment (Decision D4).
const timeoutMilliseconds = 15_000;

/** A client that presents `identity` and trusts `caPem`. */
export function openMutualTls(identity: TransportIdentity, caPem: string): MutualTls {
  const client = Deno.createHttpClient({
    caCerts: [caPem],
    cert: identity.certPem,
    key: identity.keyPem,
    // Deno's fetch repeats a request by itself if a kept connection ends, and its single-use proof would be rejected.
    poolMaxIdlePerHost: 0,
  });
  return {
    fetch: (url, request): Promise<Response> =>
      fetch(url, {
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        redirect: "manual", // a redirect could send the certificate, the token and the proof to another host
        signal: request.signal ?? AbortSignal.timeout(timeoutMilliseconds),
        client,
      }),
    close: (): void => client.close(),
  };
}

/**
 * HTTP to the platform with a bank's network certificate (contract FAPI-G2). Trusts the sandbox CA
 * in addition to the public ones. Never follows a redirect.
 */
import type { BankFetch, BankProfile } from "./bank_profile.ts";

/** A fetch that presents the certificate, and a function that closes its connections. */
export interface MtlsFetch {
  readonly fetch: BankFetch;
  readonly close: () => void;
}

/** Longest wait for a response of the platform, milliseconds. */
const requestTimeoutMs = 10_000;

/** The mTLS client of one bank. */
export function mtlsFetch(profile: BankProfile, caPem: string): MtlsFetch {
  const client = Deno.createHttpClient({
    caCerts: [caPem],
    cert: profile.transport.certPem,
    key: profile.transport.keyPem,
    // Deno's fetch repeats a request by itself if a kept connection ends, and its single-use proof would be rejected.
    poolMaxIdlePerHost: 0,
  });
  return {
    fetch: (url, init) =>
      fetch(url, { ...init, client, redirect: "manual", signal: AbortSignal.timeout(requestTimeoutMs) }),
    close: () => client.close(),
  };
}

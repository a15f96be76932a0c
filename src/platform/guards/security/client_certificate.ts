/**
 * Middleware: the client certificate that the TLS proxy has verified, passed in a header (Decision A8, RFC 9440). The
 * client is identified by the certificate's public key, never by its subject. The header counts only together with
 * the proxy's secret.
 */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { createMiddleware } from "hono/factory";
import { openRecentlyUsed, type RecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { RequestVariables } from "../../../base/http/context.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asClientId, type ClientId } from "../../../base/kernel/identifiers.ts";
import { spkiThumbprint } from "../../../base/jose/rsa_key.ts";
import { because, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import { PROXY_SECRET_HEADER, type ProxyCertificateSource } from "../../../base/profile.ts";
import type { Context } from "hono";
import type { Authentication } from "../../evidence/evidence.ts";

/** A certificate from a trusted proxy that is currently valid. */
export interface ClientCertificate {
  /** SHA-256 of the SubjectPublicKeyInfo, base64url. */
  readonly spkiThumbprint: string;
  /**
   * The client id in the subject. It only selects the client whose keys are compared (`proven_caller.ts`), because
   * identity is the key. Undefined if the subject has none.
   */
  readonly namedClient: ClientId | undefined;
  /** End of its validity, milliseconds. */
  readonly notAfter: number;
}

/** Set by {@link clientCertificate}. */
export interface CertificateVariables {
  certificate: ClientCertificate;
}

interface ParsedCertificate extends ClientCertificate {
  readonly notBefore: number;
}

const MAX_HEADER_CHARACTERS = 16_384;
const MAX_REMEMBERED = 2000;

/** Reads the certificate of a request, or returns why it has none. */
export type ReadCertificate = (headers: Headers) => Promise<Result<ClientCertificate, Reason>>;

/** Opens the reader that this middleware and the admission control share. */
export function certificateReader(deps: {
  readonly clock: Clock;
  readonly source: ProxyCertificateSource;
  readonly proxySecret: string;
}): ReadCertificate {
  const parsed = openRecentlyUsed<Promise<ParsedCertificate | undefined>>(MAX_REMEMBERED);
  return async function readCertificate(headers) {
    if (!sameSecret(headers.get(PROXY_SECRET_HEADER) ?? "", deps.proxySecret)) {
      return because("no proxy secret");
    }
    const header = headers.get(deps.source);
    if (header === null) return because("no certificate header");
    const certificate = await parseOnce(parsed, header, deps.source);
    if (certificate === undefined) return because("malformed certificate header");
    const now = deps.clock();
    return now < certificate.notBefore || now > certificate.notAfter
      ? because("certificate not valid now")
      : ok(certificate);
  };
}

/**
 * Creates the middleware.
 *
 * @throws {ApiError} `certificate.missing` unless the proxy sent exactly one valid certificate
 */
export function clientCertificate(
  read: ReadCertificate,
): ReturnType<typeof createMiddleware<{ Variables: RequestVariables & CertificateVariables }>> {
  return createMiddleware<{ Variables: RequestVariables & CertificateVariables }>(
    async function certificate(c, next) {
      const certificate = await read(c.req.raw.headers);
      if (!certificate.ok) throw new ApiError("certificate.missing", certificate.fault.why);
      c.set("certificate", certificate.value);
      c.get("facts").certificate = certificate.value.spkiThumbprint;
      await next();
    },
  );
}

// The parsed certificate is cached by the header's exact text, on which alone it depends. Validity is checked at each
// use.
function parseOnce(
  parsed: RecentlyUsed<Promise<ParsedCertificate | undefined>>,
  header: string,
  source: ProxyCertificateSource,
): Promise<ParsedCertificate | undefined> {
  if (header.length > MAX_HEADER_CHARACTERS) return Promise.resolve(undefined);
  const known = parsed.get(header);
  if (known !== undefined) return known;
  const fresh = parseHeader(header, source);
  parsed.set(header, fresh);
  return fresh;
}

async function parseHeader(
  header: string,
  source: ProxyCertificateSource,
): Promise<ParsedCertificate | undefined> {
  const der = derFrom(header, source);
  if (der === undefined || !isOneDerSequence(der)) return undefined;
  const certificate = readCertificate(der);
  if (certificate === undefined) return undefined;
  const { spki, ...times } = certificate;
  return { spkiThumbprint: await spkiThumbprint(spki), ...times };
}

/** Returns undefined if the DER is not X.509. The parser's errors have no class of their own. */
function readCertificate(
  der: Uint8Array<ArrayBuffer>,
): Omit<ParsedCertificate, "spkiThumbprint"> & { readonly spki: ArrayBuffer } | undefined {
  try {
    const { publicKey, notBefore, notAfter, subjectName } = new X509Certificate(der);
    const [name] = subjectName.getField("CN");
    return {
      spki: publicKey.rawData,
      notBefore: notBefore.getTime(),
      notAfter: notAfter.getTime(),
      namedClient: asClientId(name),
    };
  } catch {
    return undefined;
  }
}

function derFrom(header: string, source: ProxyCertificateSource): Uint8Array<ArrayBuffer> | undefined {
  switch (source) {
    case "client-cert": // RFC 9440 §2.1: one RFC 8941 byte sequence
      return fromBase64(/^:([A-Za-z0-9+/]+={0,2}):$/.exec(header)?.[1]);
    case "x-ssl-client-cert": // nginx $ssl_client_escaped_cert
      return fromEscapedPem(header);
    case "x-forwarded-client-cert": // Envoy, forward_client_cert_details SANITIZE_SET
      return fromEscapedPem(soleCertificate(header));
  }
}

/**
 * Returns the `Cert` of an XFCC header with one element. Two elements would be two hops, and two `Cert`s would be
 * ambiguous.
 */
function soleCertificate(header: string): string | undefined {
  if (!/^(?:[A-Za-z]+=(?:"(?:[^"\\]|\\.)*"|[^",;]*)(?:;(?!$)|$))+$/.test(header)) return undefined;
  const members = [...header.matchAll(/([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;]*))(?:;|$)/g)];
  const certificates = members.filter(([, name = ""]) => name.toLowerCase() === "cert");
  return certificates.length === 1 ? certificates[0]?.[2] : undefined;
}

function fromEscapedPem(escaped: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (escaped === undefined) return undefined;
  let pem: string;
  try {
    pem = decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
  const body = /^-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=\n]+)\n-----END CERTIFICATE-----\n?$/.exec(pem)
    ?.[1];
  return fromBase64(body?.replaceAll("\n", ""));
}

function fromBase64(text: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (text === undefined) return undefined;
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

/**
 * Whether the bytes are exactly one DER SEQUENCE with two octets of length, without other bytes around it. A certificate
 * with an RSA key needs two, and the header has room for no more.
 */
function isOneDerSequence(der: Uint8Array): boolean {
  const length = der.length - 4;
  return [0x30, 0x82, length >> 8, length & 0xff].every((octet, index) => der[index] === octet);
}

/** Compares in a time that depends only on the length of the configured secret. Decision F8 says why it does not hash. */
function sameSecret(sent: string, expected: string): boolean {
  const differences = Array.from(
    { length: expected.length },
    (_, index) => expected.charCodeAt(index) ^ sent.charCodeAt(index),
  );
  return differences.reduce((all, one) => all | one, sent.length ^ expected.length) === 0;
}

// How the participant of a request was authenticated, for the histories that the request changes (contract EN6).

/** @param by the client, and its client assertion or the hash of its access token */
export function authenticationOf<E extends { Variables: CertificateVariables }>(
  c: Context<E>,
  baseUrl: string,
  by: Pick<Authentication, "clientId" | "assertion" | "token">,
): Authentication {
  const proof = c.req.header("dpop");
  return {
    ...by,
    certificate: c.get("certificate").spkiThumbprint,
    method: c.req.method,
    target: baseUrl + new URL(c.req.url).pathname,
    ...(proof === undefined ? {} : { proof }),
  };
}

/** Timestamps of checkpoints by an outside authority (RFC 3161), so that their time does not rest on the platform's word. */
import { Integer, OctetString } from "asn1js";
import {
  AlgorithmIdentifier,
  Certificate,
  ExtKeyUsage,
  MessageImprint,
  SignedData,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from "pkijs";
import { readBoundedBytes } from "../../../src/base/http/outgoing.ts";

/** A time-stamping authority, and the certificates by which it is known. */
export interface TimestampAuthority {
  readonly fetch: typeof fetch;
  readonly url: string;
  /** PEM. One of them has issued the authority's certificate, directly or through others that the response contains. */
  readonly trusted: string;
  /** Milliseconds. */
  readonly now: () => number;
}

/** A verified timestamp. */
export interface Timestamp {
  /** The authority's response (RFC 3161 §2.4.2). */
  readonly response: Uint8Array<ArrayBuffer>;
  readonly time: Date;
}

const SHA_256 = "2.16.840.1.101.3.4.2.1";
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const NONCE_BYTES = 8;
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 15_000;
/** Largest difference between the authority's clock and this computer's. */
const MAX_SKEW_MS = 5 * 60_000;

/**
 * Has data timestamped, and verifies the timestamp: its signature and certificates, that it is for these data and this
 * request, and that its time is now (RFC 3161 §2.2).
 *
 * @throws {Error} in one sentence
 */
export async function timestamp(
  authority: TimestampAuthority,
  data: Uint8Array<ArrayBuffer>,
): Promise<Timestamp> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  nonce[0] = (nonce[0] ?? 0) & 0x7f | 0x40; // a positive number of eight bytes, so that DER changes none of them
  const response = await ask(authority, await requestFor(data, nonce));
  const time = await verifyResponse(response, { data, nonce, ...authority });
  return { response, time };
}

async function requestFor(
  data: Uint8Array<ArrayBuffer>,
  nonce: Uint8Array<ArrayBuffer>,
): Promise<ArrayBuffer> {
  const digest = await crypto.subtle.digest("SHA-256", data);
  return new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: SHA_256 }),
      hashedMessage: new OctetString({ valueHex: digest }),
    }),
    nonce: new Integer({ valueHex: nonce }),
    certReq: true,
  }).toSchema().toBER();
}

/** @throws {Error} if the authority does not answer within 15 s, with at most 64 KiB */
async function ask(
  { fetch, url }: TimestampAuthority,
  request: ArrayBuffer,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url, {
    method: "POST",
    body: request,
    headers: { "content-type": "application/timestamp-query" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new Error(`${url} cannot be reached: ${error.message}`);
  });
  const type = response.headers.get("content-type")?.split(";")[0];
  if (response.status !== 200 || type !== "application/timestamp-reply") {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status} with ${type ?? "no content type"}`);
  }
  const bytes = await readBoundedBytes(response, MAX_BYTES);
  if (bytes === undefined) throw new Error(`${url} answered with more than ${MAX_BYTES} bytes`);
  return bytes;
}

interface Expected extends Pick<TimestampAuthority, "trusted" | "now"> {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly nonce: Uint8Array<ArrayBuffer>;
}

async function verifyResponse(response: Uint8Array<ArrayBuffer>, expected: Expected): Promise<Date> {
  const { status, timeStampToken } = decodePart("response", () => TimeStampResp.fromBER(response));
  if (status.status > 1 || timeStampToken === undefined) {
    throw new Error(`the authority rejected the request with status ${status.status}`);
  }
  const signed = decodePart("token", () => new SignedData({ schema: timeStampToken.content }));
  const result = await signed.verify({
    signer: 0,
    data: expected.data.buffer,
    trustedCerts: certificatesOf(expected.trusted),
    checkChain: true,
    extendedMode: true,
  }).catch((error: Error) => {
    throw new Error(`the timestamp does not verify: ${error.message}`);
  });
  if (result.signatureVerified !== true || result.signerCertificateVerified !== true) {
    throw new Error("the timestamp does not verify");
  }
  if (!isForTimestamps(result.signerCertificate)) {
    throw new Error("the certificate of the timestamp's signer is not for timestamps");
  }
  const content = decodePart(
    "content",
    () => TSTInfo.fromBER(signed.encapContentInfo.eContent?.getValue() ?? new ArrayBuffer()),
  );
  return timeOf(content, expected);
}

function timeOf({ nonce, genTime }: TSTInfo, { nonce: sent, now }: Expected): Date {
  const returned = new Uint8Array(nonce?.valueBlock.valueHexView ?? []);
  if (returned.toHex() !== sent.toHex()) throw new Error("the timestamp is not for this request");
  if (Math.abs(genTime.getTime() - now()) > MAX_SKEW_MS) {
    throw new Error(`the timestamp's time is ${genTime.toISOString()}, and this computer's clock differs`);
  }
  return genTime;
}

/** RFC 3161 §2.3: the key is for timestamps and nothing else, and the extension that says so is critical. */
function isForTimestamps(certificate: Certificate | null | undefined): boolean {
  const extension = certificate?.extensions?.find(({ extnID }) => extnID === EXTENDED_KEY_USAGE);
  const usage = extension?.parsedValue;
  return extension?.critical === true && usage instanceof ExtKeyUsage &&
    usage.keyPurposes.join() === TIME_STAMPING;
}

function certificatesOf(pem: string): Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error("the file of the authority's certificates has none");
  return blocks.map((block) => {
    const der = Uint8Array.fromBase64(block.replaceAll(/-----[^-]+-----|\s/g, ""));
    return decodePart("trusted certificate", () => Certificate.fromBER(der));
  });
}

function decodePart<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error(`the ${what} is not DER of its type`);
  }
}

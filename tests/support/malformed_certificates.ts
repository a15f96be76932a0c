/** Malformed certificate headers for each kind of proxy (contract H5-H7, H20, H23). */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import type { ProxyCertificateSource } from "../../src/base/profile.ts";
import { headerOf } from "./client_certificates.ts";
import { certificatePem } from "testing/web_authority.ts";

/** Values of the header that are no certificate; most of them nearly. */
export function malformedCertificates(
  source: ProxyCertificateSource,
  certificate: string,
  other: string,
): readonly (readonly [string, string])[] {
  const good = headerOf(source, certificate);
  return [
    ...malformedDer(certificate, other).map(([what, der]) => [what, headerOf(source, der)] as const),
    ...FORMS[source](good, certificate, other),
    ["empty", ""],
    ["twice", `${good}, ${good}`],
    ["text", "certificate"],
    ["100 kB", "A".repeat(100_000)],
    ["100 kB around it", good + "=".repeat(100_000)],
    ["bytes above ASCII", "\u00ff\u00fe\u00e9"],
    ["it and a byte above ASCII", `${good}\u00a0`],
  ];
}

function malformedDer(certificate: string, other: string): readonly (readonly [string, string])[] {
  const der = Uint8Array.fromBase64(certificate);
  const second = Uint8Array.fromBase64(other);
  const withLength = (...length: number[]): Uint8Array =>
    new Uint8Array([0x30, ...length, ...der.subarray(4)]);
  const cases: Record<string, Uint8Array> = {
    "DER without its end": der.subarray(0, -1),
    "half a DER": der.subarray(0, der.length / 2),
    "DER and a byte": new Uint8Array([...der, 0]),
    "two DERs": new Uint8Array([...der, ...second]),
    "a byte and DER": new Uint8Array([0, ...der]),
    "BER of indefinite length": new Uint8Array([...withLength(0x80), 0, 0]),
    "length with leading zeros": withLength(0x83, 0, ...der.subarray(2, 4)),
    "length beyond the end": withLength(0x84, 0x7f, 0xff, 0xff, 0xff),
    "another tag": new Uint8Array([0x31, ...der.subarray(1)]),
    "no bytes": new Uint8Array(),
    "an empty sequence": new Uint8Array([0x30, 0]),
    "a sequence of nothing much": new Uint8Array([0x30, 3, 2, 1, 0]),
    "its public key alone": new Uint8Array(new X509Certificate(der).publicKey.rawData),
  };
  return Object.entries(cases).map(([what, bytes]) => [what, bytes.toBase64()]);
}

type Forms = (good: string, certificate: string, other: string) => readonly (readonly [string, string])[];

const escapedForms: Forms = (_, certificate) => {
  const pem = certificatePem(certificate);
  const escaped = encodeURIComponent(pem);
  return [
    ["PEM with spaces for line ends", pem.replaceAll("\n", " ").trim()],
    ["PEM twice", escaped + escaped],
    ["PEM after other text", `x${escaped}`],
    ["of another label", encodeURIComponent(pem.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE"))],
    ["a private key's label", encodeURIComponent(pem.replaceAll("CERTIFICATE", "PRIVATE KEY"))],
    ["a broken escape", `${escaped}%`],
    ["an escape of no UTF-8", `${escaped}%ff`],
    ["escaped twice", encodeURIComponent(escaped)],
    ["a byte sequence", `:${certificate}:`],
    ["with a header line", escaped.replace("-----%0A", "-----%0AProc-Type%3A%204%2CENCRYPTED%0A")],
  ];
};

/** The same bytes for a lenient decoder. @throws {Error} if the base64 has no padding, so that no bits are spare */
function withSpareBits(certificate: string): string {
  const [end, last = ""] = /(.)=+$/.exec(certificate) ?? [];
  if (end === undefined) throw new Error("the certificate's base64 needs padding");
  return certificate.slice(0, -end.length) + String.fromCharCode(last.charCodeAt(0) + 1) + end.slice(1);
}

const FORMS: Readonly<Record<ProxyCertificateSource, Forms>> = {
  "client-cert": (good, certificate, other) => [
    ["without colons", certificate],
    ["one colon", `:${certificate}`],
    ["two colons", "::"],
    ["another's after it", `${good}, :${other}:`],
    ["a parameter", `${good};a=1`],
    ["base64url", good.replaceAll("+", "-").replaceAll("/", "_")],
    ["padding missing", good.replaceAll("=", "").replace(/..:$/, ":")],
    ["a space inside", `:${certificate.slice(0, 100)} ${certificate.slice(100)}:`],
    ["a tab inside", `:${certificate.slice(0, 100)}\t${certificate.slice(100)}:`],
    ["spare bits in the last character", `:${withSpareBits(certificate)}:`],
    ["PEM", certificatePem(certificate).replaceAll("\n", " ").trim()],
    ["escaped PEM", encodeURIComponent(certificatePem(certificate))],
    ["hex", `:${Uint8Array.fromBase64(certificate).toHex()}:`],
    ["in quotes", `"${certificate}"`],
  ],
  "x-ssl-client-cert": escapedForms,
  "x-forwarded-client-cert": (good, certificate, other) => {
    const escaped = encodeURIComponent(certificatePem(certificate));
    return [
      ...escapedForms(good, certificate, other).map(([what, value]) => [what, `Cert="${value}"`] as const),
      ["two hops", `${good},${headerOf("x-forwarded-client-cert", other)}`],
      ["two certificates in one hop", `${good};Cert="${encodeURIComponent(certificatePem(other))}"`],
      ["two certificates in two spellings", `${good};cert="${encodeURIComponent(certificatePem(other))}"`],
      ["without Cert", 'Hash=00;Subject="CN=a"'],
      ["a chain alone", `Chain="${escaped}"`],
      ["a certificate inside a subject", `Subject="Cert=${escaped}"`],
      ["quote never closed", `Cert="${escaped}`],
      ["no quotes", `Cert=${escaped}`],
      ["a semicolon at the end", `${good};`],
      ["by itself", escaped],
    ];
  },
};

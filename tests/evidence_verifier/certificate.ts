/** Step 9: certificates (RFC 5280), read from their DER. */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { isSame, listOf, membersOf, parsed, sha256Text } from "./encoding.ts";
import { hash, list, object, type PublicKey, text } from "./form.ts";

interface Node {
  readonly tag: number;
  /** The value alone. */
  readonly value: Uint8Array<ArrayBuffer>;
  /** Tag, length and value. */
  readonly whole: Uint8Array<ArrayBuffer>;
}

/** Returns the nodes of DER, one after the other. */
function nodesOf(der: Uint8Array<ArrayBuffer>): readonly Node[] {
  const nodes: Node[] = [];
  for (let at = 0; at < der.length;) {
    const [tag = 0, first = 0] = [der[at], der[at + 1]];
    const more = first < 128 ? 0 : first - 128;
    const length = more === 0
      ? first
      : der.slice(at + 2, at + 2 + more).reduce((sum, byte) => sum * 256 + byte, 0);
    const end = at + 2 + more + length;
    if (end > der.length) throw new Error("cut off");
    nodes.push({ tag, value: der.slice(at + 2 + more, end), whole: der.slice(at, end) });
    at = end;
  }
  return nodes;
}

interface Certificate {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly from: number;
  readonly until: number;
  readonly spki: Uint8Array<ArrayBuffer>;
  readonly extensions: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/** UTCTime or GeneralizedTime, in milliseconds. */
function timeOf({ tag, value }: Node): number {
  const digits = new TextDecoder().decode(value);
  const full = tag === 0x17 ? `${Number(digits.slice(0, 2)) < 50 ? "20" : "19"}${digits}` : digits;
  return Date.parse(full.replace(/^(....)(..)(..)(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

const hex = (bytes: Uint8Array | undefined): string => bytes?.toHex() ?? "";

function readCertificate(der: Uint8Array<ArrayBuffer>): Certificate {
  const [outer, ...rest] = nodesOf(der);
  const [signed] = nodesOf(outer?.value ?? new Uint8Array());
  if (!signed || rest.length > 0) throw new Error("no certificate");
  const fields = nodesOf(signed.value);
  const [, , issuer, validity, subject, spki, ...others] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  const [from, until] = nodesOf(validity?.value ?? new Uint8Array());
  if (!issuer || !subject || !spki || !from || !until) throw new Error("no certificate");
  const list = nodesOf(others.find(({ tag }) => tag === 0xa3)?.value ?? new Uint8Array())[0];
  const extensions = new Map(
    nodesOf(list?.value ?? new Uint8Array()).map(({ value }) => {
      const parts = nodesOf(value);
      return [hex(parts[0]?.value), parts.at(-1)?.value ?? new Uint8Array()] as const;
    }),
  );
  return {
    issuer: issuer.whole,
    subject: subject.whole,
    from: timeOf(from),
    until: timeOf(until),
    spki: spki.whole,
    extensions,
  };
}

/** Basic constraints say that it is an authority, and key usage, if there is one, that it signs certificates. */
function isAuthority({ extensions }: Certificate): boolean {
  const basic =
    nodesOf(nodesOf(extensions.get("551d13") ?? new Uint8Array())[0]?.value ?? new Uint8Array())[0];
  const usage = extensions.get("551d0f");
  const signs = usage === undefined || ((nodesOf(usage)[0]?.value[1] ?? 0) & 0x04) !== 0;
  return basic?.tag === 0x01 && basic.value[0] === 0xff && signs;
}

interface Chain {
  /** What is wrong at any time. */
  readonly fault?: string;
  readonly from: number;
  readonly until: number;
}

const known = new Map<string, Promise<Chain>>();

/** When certificates were revoked, in milliseconds, by their SHA-256. */
export type Revoked = ReadonlyMap<string, number>;

const isRevokedSet = object(
  { keys: list(object({ "x5t#S256": hash, revoked_at: text }, {}, true)) },
  {},
  true,
);

/** Reads the directory's key set of revoked keys, as the reader of a bundle has saved it. */
export function readRevoked(bytes: Uint8Array): Revoked {
  const set = parsed(bytes);
  if (!isRevokedSet(set)) throw new Error("no key set of revoked keys");
  return new Map(
    listOf(membersOf(set)["keys"]).map((key) => {
      const { "x5t#S256": sha256, revoked_at } = membersOf(key);
      return [String(sha256), Date.parse(String(revoked_at))];
    }),
  );
}

/** Returns what is wrong with the certificates of a key at a time in milliseconds, or undefined. */
export async function certificateFault(
  key: PublicKey,
  at: number,
  revoked: Revoked,
): Promise<string | undefined> {
  if (key.x5c === undefined) return undefined;
  const name = JSON.stringify([key.n, key.e, key.x5c, key["x5t#S256"]]);
  const found = known.get(name) ?? readChain(key, key.x5c);
  known.set(name, found);
  const { fault, from, until } = await found;
  if (fault !== undefined) return fault;
  if (at < from || at > until) return "a certificate was not valid";
  const isRevoked = (thumbprint: string): boolean => (revoked.get(thumbprint) ?? Infinity) <= at;
  return revoked.size > 0 && (await thumbprintsOf(key)).some(isRevoked)
    ? "a certificate was revoked"
    : undefined;
}

async function readChain(key: PublicKey, x5c: readonly string[]): Promise<Chain> {
  try {
    const ders = x5c.map((text) => Uint8Array.fromBase64(text));
    const chain = ders.map(readCertificate);
    const fault = await chainFault(key, ders, chain);
    return {
      ...(fault && { fault }),
      from: Math.max(...chain.map(({ from }) => from)),
      until: Math.min(...chain.map(({ until }) => until)),
    };
  } catch (error) {
    return { fault: `certificates that cannot be read: ${error}`, from: 0, until: 0 };
  }
}

async function chainFault(
  key: PublicKey,
  ders: readonly Uint8Array<ArrayBuffer>[],
  chain: readonly Certificate[],
): Promise<string | undefined> {
  const [[first], [der]] = [chain, ders];
  if (!first || !der) return "an empty x5c";
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const spki = await crypto.subtle.importKey("spki", first.spki, algorithm, true, ["verify"]);
  const { n, e } = await crypto.subtle.exportKey("jwk", spki);
  if (!isSame([n, e], [key.n, key.e])) return "the first certificate is of another key";
  if (![undefined, sha256Text(der)].includes(key["x5t#S256"])) return "another x5t#S256";
  for (const [place, certificate] of chain.slice(0, -1).entries()) {
    const next = chain[place + 1];
    if (!next || hex(certificate.issuer) !== hex(next.subject)) return "a certificate names another issuer";
    if (!isAuthority(next)) return "a certificate is signed by one that is no authority";
    const [child, parent] = [ders[place], ders[place + 1]]
      .map((der) => new X509Certificate(Buffer.from(der ?? new Uint8Array())));
    if (!child || !parent || !child.verify(parent.publicKey)) {
      return "a certificate is not signed by the next";
    }
  }
  return undefined;
}

/** Returns the SHA-256 of each certificate of a key. */
export async function thumbprintsOf({ x5c = [] }: PublicKey): Promise<readonly string[]> {
  return await Promise.all(x5c.map((text) => sha256Text(Uint8Array.fromBase64(text))));
}

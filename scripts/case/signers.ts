/**
 * Who signed what in a bundle. A bundle names keys, but cannot prove whose they are: the reader says which certificates
 * are the platform's, the TPP's and the bank's, so that none of the three can sign in the place of another.
 */
import type { Key } from "./bundle_schema.ts";
import { type Certificate, certificatesOf } from "./certificates.ts";

/** Whose signature something needs. */
export type Party = "platform" | "tpp" | "bank";

/** The signed kinds of evidence (`docs/contract/evidence.md`, EN). */
const SIGNED_BY: Readonly<Record<string, Party>> = {
  consent_request: "tpp",
  payment_request: "tpp",
  handover: "platform",
  order: "platform",
  payer_accounts: "bank",
  sca_result: "bank",
  status_report: "bank",
};

const NAMES: Readonly<Record<Party, string>> = { platform: "platform", tpp: "TPP", bank: "bank" };

/** SHA-256 of the certificates that are a party's or its authority's, base64url. Absent: the reader compares. */
export type Trusted = Readonly<Partial<Record<Party, readonly string[]>>>;

interface Signer {
  readonly party: Party;
  readonly key: Key;
  readonly signed: Set<string>;
}

/** The keys whose signatures verify, by party and modulus. */
export type Signers = Map<string, Signer>;

/** Returns who must have signed this kind of evidence. Undefined: nobody that this program knows. */
export function signerOf(kind: string): Party | undefined {
  return SIGNED_BY[kind];
}

/** Notes that a party's signature verifies with a key. */
export function noteSigner(signers: Signers, party: Party, signed: string, key: Key): void {
  const id = `${party} ${key.n}`;
  const signer = signers.get(id) ?? { party, key, signed: new Set() };
  signer.signed.add(signed);
  signers.set(id, signer);
}

/** Yields each key that is not of the party in whose place it signed. */
export function* strangersIn(signers: Signers, trusted: Trusted): Generator<string> {
  for (const { party, key, signed } of signers.values()) {
    const known = trusted[party];
    const chain = certificatesOf(key) ?? [];
    if (known === undefined || chain.some(({ sha256 }) => known.includes(sha256))) continue;
    const what = [...signed].toSorted().join(", ");
    const last = chain.at(-1);
    if (last === undefined) {
      yield `the key ${key.kid} signed ${what} and has no certificate, so it leads to none of --${party}`;
      continue;
    }
    const cut = last.issuer === last.subject ? "" : `; its chain lacks the certificate of ${last.issuer}`;
    yield `${nameOf(chain[0] ?? last)} signed ${what}, and leads to none of --${party}${cut}`;
  }
  for (const party of ["tpp", "bank"] as const) {
    if (areShared(signers, "platform", party)) {
      yield `the platform and the ${NAMES[party]} signed with the same key`;
    }
  }
}

/** Lines for the reader: what each party signed, with which certificates, and what is left to compare. */
export function signerLines(
  signers: Signers,
  trusted: Trusted,
  parties: readonly Party[] = ["platform", "tpp", "bank"],
): readonly string[] {
  const lines = parties.flatMap((party) => {
    const own = [...signers.values()].filter((signer) => signer.party === party);
    if (own.length === 0) return [`signed by the ${NAMES[party]}: nothing`];
    return own.flatMap(({ key, signed }) => {
      const chain = certificatesOf(key) ?? [];
      return [
        `signed by the ${NAMES[party]}: ${[...signed].toSorted().join(", ")}`,
        ...chain.map((one) => `  ${nameOf(one)}`),
        ...(chain.length > 0 ? [] : [`  nothing here says whose this is: ${key.kid} has no certificate`]),
      ];
    });
  });
  if (areShared(signers, "tpp", "bank")) lines.push("the TPP and the bank signed with the same key");
  const open = parties.filter((party) => trusted[party] === undefined);
  if (open.length === 0) {
    return [...lines, "every key leads to a certificate that you have named for its party"];
  }
  const options = open.map((party) => `--${party}`).join(", ");
  return [
    ...lines,
    `compare these certificates with those that you know, or give their SHA-256, comma separated: ${options}`,
  ];
}

function areShared(signers: Signers, one: Party, other: Party): boolean {
  return [...signers.values()].some(({ party, key }) => party === one && signers.has(`${other} ${key.n}`));
}

function nameOf({ subject, sha256 }: Certificate): string {
  return `${subject}, SHA-256 ${sha256}`;
}

/**
 * Who signed what in a bundle. A bundle names keys, but cannot prove whose they are: the reader says which certificates
 * are the platform's, the TPP's and the bank's, so that none of the three can sign in the place of another.
 */
import type { Key } from "./bundle_schema.ts";
import { type Certificate, certificatesOf } from "./certificates.ts";

/** Whose signature something needs. */
export type Party = "platform" | "tpp" | "bank";

/** How a kind of evidence is signed. */
export interface SignedKind {
  readonly by: Party;
  /** A detached signature over the bytes, or a compact JWS. */
  readonly form: "detached" | "compact";
  /** Where its content names the consent or the payment. Absent: nowhere. */
  readonly names?: { readonly of: "consent" | "payment"; readonly at: readonly string[] };
}

/** The signed kinds of evidence (`docs/contract/evidence.md`, kinds of evidence). */
const SIGNED: Readonly<Record<string, SignedKind>> = {
  consent_request: { by: "tpp", form: "detached" },
  payment_request: { by: "tpp", form: "detached", names: { of: "consent", at: ["Data", "ConsentId"] } },
  handover: { by: "platform", form: "compact", names: { of: "consent", at: ["ref_id"] } },
  order: { by: "platform", form: "compact", names: { of: "payment", at: ["Data", "DomesticPaymentId"] } },
  payer_accounts: { by: "bank", form: "detached", names: { of: "consent", at: ["Data", "ConsentId"] } },
  sca_result: { by: "bank", form: "compact", names: { of: "consent", at: ["ref_id"] } },
  status_report: { by: "bank", form: "detached" },
  tpp_dispute: { by: "tpp", form: "detached", names: { of: "payment", at: ["Data", "DomesticPaymentId"] } },
  bank_dispute: { by: "bank", form: "detached", names: { of: "payment", at: ["Data", "DomesticPaymentId"] } },
};

const NAMES: Readonly<Record<Party, string>> = { platform: "platform", tpp: "TPP", bank: "bank" };

/** SHA-256 of the certificates that are a party's or its authority's, base64url. Absent: the reader compares. */
export type Trusted = Readonly<Partial<Record<Party, readonly string[]>>>;

interface Signer {
  readonly party: Party;
  readonly key: Key;
  readonly signed: Set<string>;
}

/** The keys whose signatures verify, by party, modulus and certificates. */
export type Signers = Map<string, Signer>;

/** Returns how this kind of evidence must be signed. Undefined: not at all, as far as this program knows. */
export function signedKind(kind: string): SignedKind | undefined {
  return Object.hasOwn(SIGNED, kind) ? SIGNED[kind] : undefined;
}

/** Notes that a party's signature verifies with a key. */
export function noteSigner(signers: Signers, party: Party, signed: string, key: Key): void {
  const id = `${party} ${key.n} ${JSON.stringify(key["x5c"] ?? [])}`;
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
    yield `${certificateName(chain[0] ?? last)} signed ${what}, and leads to none of --${party}${cut}`;
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
        ...chain.map((one) => `  ${certificateName(one)}`),
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
  const moduli = (of: Party): readonly string[] =>
    [...signers.values()].flatMap(({ party, key }) => party === of ? key.n : []);
  return moduli(one).some((modulus) => moduli(other).includes(modulus));
}

function certificateName({ subject, sha256 }: Certificate): string {
  return `${subject}, SHA-256 ${sha256}`;
}

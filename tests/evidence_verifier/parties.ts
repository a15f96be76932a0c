/** Steps 9 and 13: certificates, and whose the signatures are. */
import { type Case } from "./case.ts";
import { certificateFault, type Revoked, thumbprintsOf } from "./certificate.ts";
import type { PublicKey } from "./form.ts";
import { keyOf } from "./pieces.ts";
import { headerOf } from "./signature.ts";

export type Party = "platform" | "tpp" | "bank";

/** The SHA-256 of certificates that the reader knows to be a party's or its authority's. */
export type Trust = Readonly<Partial<Record<Party, readonly string[]>>>;

const SIGNERS: Readonly<Record<string, Party>> = {
  handover: "platform",
  order: "platform",
  consent_request: "tpp",
  payment_request: "tpp",
  payer_accounts: "bank",
  sca_result: "bank",
  status_report: "bank",
  tpp_dispute: "tpp",
  bank_dispute: "bank",
};

export async function* certificateFaults(facts: Case, revoked: Revoked): AsyncGenerator<string> {
  for (const key of facts.bundle.keys) {
    const fault = await certificateFault(key, Number(facts.statement["iat"]) * 1000, revoked);
    if (fault) yield `the key ${key.kid}: ${fault}`;
  }
  for (const piece of facts.pieces) {
    const key = keyOf(facts, piece);
    const fault = key && await certificateFault(key, piece.entry.at, revoked);
    if (fault) yield `the key of ${piece.place}: ${fault}`;
  }
}

function signersOf(facts: Case): readonly (readonly [Party, PublicKey])[] {
  const { bundle } = facts;
  const own = [bundle.statement, bundle.checkpoint].map((jws) => headerOf(jws)["kid"]);
  return [
    ...bundle.keys.filter(({ kid }) => own.includes(kid)).map((key) => ["platform", key] as const),
    ...facts.pieces.flatMap((piece) => {
      const [party, key] = [SIGNERS[piece.kind], keyOf(facts, piece)];
      return party && key && piece.body ? [[party, key] as const] : [];
    }),
  ];
}

export async function* partyFaults(facts: Case, trust: Trust): AsyncGenerator<string> {
  const signers = signersOf(facts);
  const platforms = signers.filter(([party]) => party === "platform").map(([, { n }]) => n);
  if (signers.some(([party, { n }]) => party !== "platform" && platforms.includes(n))) {
    yield "the platform and a participant signed with one key";
  }
  for (const [party, known] of Object.entries(trust)) {
    const keys = signers.filter(([signer]) => signer === party).map(([, key]) => key);
    const isNamed = facts.pieces.some(({ kind }) => SIGNERS[kind] === party);
    if (isNamed && keys.length === 0) yield `no signature of the ${party} is left`;
    for (const key of keys) {
      const thumbprints = await thumbprintsOf(key);
      if (!thumbprints.some((thumbprint) => known.includes(thumbprint))) {
        yield `a key is not one of the ${party}`;
      }
    }
  }
}

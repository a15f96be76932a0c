/**
 * The requirements that tests must name: the rules and the negative cases of the FAPI 2.0 checklist, its JWT and proxy
 * attacks, the black-box list of the open-banking reference (9.3), and the decisions. Data only.
 */

/** Numbered criteria of one subject: `prefix` with the numbers from 1 to `last`. */
export interface Family {
  readonly prefix: string;
  readonly last: number;
  /** How many digits a number has at least: 2 for `CON-01`. */
  readonly digits: 1 | 2;
  /** A rule says what must work; a negative case, what must be rejected. */
  readonly kind: "rule" | "negative";
  readonly about: string;
}

/** A criterion that nothing here can meet or break. */
export interface Inapplicable {
  readonly id: string;
  readonly because: string;
}

/** Every family, in the order of the documents. */
export const FAMILIES: readonly Family[] = [
  { prefix: "FAPI-D", last: 24, digits: 1, kind: "rule", about: "what the checklist settles" },
  { prefix: "FAPI-G", last: 23, digits: 1, kind: "rule", about: "every endpoint" },
  { prefix: "CA", last: 16, digits: 1, kind: "rule", about: "client authentication by a signed assertion" },
  { prefix: "DP", last: 16, digits: 1, kind: "rule", about: "DPoP proofs" },
  { prefix: "TC", last: 8, digits: 1, kind: "rule", about: "token endpoint, client credentials" },
  { prefix: "TA", last: 12, digits: 1, kind: "rule", about: "token endpoint, authorization code" },
  { prefix: "PA", last: 15, digits: 1, kind: "rule", about: "pushed authorization requests" },
  { prefix: "AZ", last: 16, digits: 1, kind: "rule", about: "authorization endpoint" },
  { prefix: "BR", last: 18, digits: 1, kind: "rule", about: "the bank's return" },
  { prefix: "RS", last: 11, digits: 1, kind: "rule", about: "resource endpoints" },
  { prefix: "RP", last: 11, digits: 1, kind: "rule", about: "writing resources" },
  { prefix: "DC", last: 17, digits: 1, kind: "rule", about: "dynamic client registration" },
  { prefix: "MD", last: 12, digits: 1, kind: "rule", about: "metadata and published keys" },
  { prefix: "G", last: 10, digits: 1, kind: "rule", about: "decisions after the first review" },
  {
    prefix: "CA-N",
    last: 25,
    digits: 1,
    kind: "negative",
    about: "client authentication by a signed assertion",
  },
  { prefix: "DP-N", last: 24, digits: 1, kind: "negative", about: "DPoP proofs" },
  { prefix: "TC-N", last: 12, digits: 1, kind: "negative", about: "token endpoint, client credentials" },
  { prefix: "TA-N", last: 18, digits: 1, kind: "negative", about: "token endpoint, authorization code" },
  { prefix: "PA-N", last: 20, digits: 1, kind: "negative", about: "pushed authorization requests" },
  { prefix: "AZ-N", last: 18, digits: 1, kind: "negative", about: "authorization endpoint" },
  { prefix: "BR-N", last: 18, digits: 1, kind: "negative", about: "the bank's return" },
  { prefix: "RG-N", last: 15, digits: 1, kind: "negative", about: "reading resources" },
  { prefix: "RP-N", last: 26, digits: 1, kind: "negative", about: "writing resources" },
  { prefix: "DC-N", last: 27, digits: 1, kind: "negative", about: "dynamic client registration" },
  { prefix: "MD-N", last: 8, digits: 1, kind: "negative", about: "metadata and published keys" },
  { prefix: "J", last: 38, digits: 1, kind: "negative", about: "attacks with JWTs" },
  { prefix: "H", last: 23, digits: 1, kind: "negative", about: "attacks with a proxy's headers" },
  { prefix: "CON-", last: 25, digits: 2, kind: "negative", about: "payment consents" },
  { prefix: "JWS-", last: 16, digits: 2, kind: "negative", about: "payload signatures" },
  { prefix: "IDE-", last: 11, digits: 2, kind: "negative", about: "idempotency" },
  { prefix: "AUT-", last: 14, digits: 2, kind: "negative", about: "authorization of a consent" },
  { prefix: "BCH-", last: 4, digits: 2, kind: "negative", about: "the bank's back channel" },
  { prefix: "FUN-", last: 2, digits: 2, kind: "negative", about: "funds confirmation" },
  { prefix: "PAY-", last: 9, digits: 2, kind: "negative", about: "payments" },
  { prefix: "STA-", last: 1, digits: 2, kind: "negative", about: "deadlines" },
  { prefix: "HDR-", last: 2, digits: 2, kind: "negative", about: "FAPI headers" },
  { prefix: "ERR-", last: 1, digits: 2, kind: "negative", about: "error bodies" },
  { prefix: "RAT-", last: 1, digits: 2, kind: "negative", about: "rate limits" },
  { prefix: "VER-", last: 1, digits: 2, kind: "negative", about: "versions and unknown paths" },
];

/** Criteria that no test stands for, each with its reason. */
export const INAPPLICABLE: readonly Inapplicable[] = [
  { id: "RS10", because: "resource_metadata is optional and not offered" },
  { id: "MD11", because: "there is no revocation endpoint (FAPI-D22)" },
  { id: "MD12", because: "there is no introspection endpoint (FAPI-D22)" },
];

/** Every id of every family. */
export function requiredIds(): string[] {
  return FAMILIES.flatMap(({ prefix, last, digits }) =>
    Array.from({ length: last }, (_, index) => prefix + String(index + 1).padStart(digits, "0"))
  );
}

/** Whether this looks like an id of a family without being one: a number that the family does not have. */
export function isMistaken(id: string, required: ReadonlySet<string>): boolean {
  const prefix = id.replace(/\d+$/, "");
  return FAMILIES.some((family) => family.prefix === prefix) && !required.has(id);
}

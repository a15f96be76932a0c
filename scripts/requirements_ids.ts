/**
 * Which criteria the tests have to stand for: the negative rows of the FAPI 2.0 checklist, its JWT and proxy attacks,
 * and the black-box list of the open-banking reference (9.3). Data only; `requirements.ts` looks for them.
 */

/** Numbered criteria of one subject: `prefix` with the numbers from 1 to `last`. */
export interface Family {
  readonly prefix: string;
  readonly last: number;
  /** How many digits a number has at least: 2 for `CON-01`. */
  readonly digits: 1 | 2;
  readonly about: string;
}

/** A criterion that nothing here can meet or break. */
export interface Inapplicable {
  readonly id: string;
  readonly because: string;
}

/** Every family, in the order of the documents. */
export const FAMILIES: readonly Family[] = [
  { prefix: "CA-N", last: 25, digits: 1, about: "client authentication by a signed assertion" },
  { prefix: "DP-N", last: 24, digits: 1, about: "DPoP proofs" },
  { prefix: "TC-N", last: 12, digits: 1, about: "token endpoint, client credentials" },
  { prefix: "TA-N", last: 18, digits: 1, about: "token endpoint, authorization code" },
  { prefix: "PA-N", last: 20, digits: 1, about: "pushed authorization requests" },
  { prefix: "AZ-N", last: 18, digits: 1, about: "authorization endpoint" },
  { prefix: "BR-N", last: 18, digits: 1, about: "the bank's return" },
  { prefix: "RG-N", last: 15, digits: 1, about: "reading resources" },
  { prefix: "RP-N", last: 26, digits: 1, about: "writing resources" },
  { prefix: "DC-N", last: 27, digits: 1, about: "dynamic client registration" },
  { prefix: "MD-N", last: 8, digits: 1, about: "metadata and published keys" },
  { prefix: "J", last: 38, digits: 1, about: "attacks with JWTs" },
  { prefix: "H", last: 23, digits: 1, about: "attacks with a proxy's headers" },
  { prefix: "CON-", last: 25, digits: 2, about: "payment consents" },
  { prefix: "JWS-", last: 16, digits: 2, about: "payload signatures" },
  { prefix: "IDE-", last: 11, digits: 2, about: "idempotency" },
  { prefix: "AUT-", last: 14, digits: 2, about: "authorization of a consent" },
  { prefix: "BCH-", last: 4, digits: 2, about: "the bank's back channel" },
  { prefix: "FUN-", last: 2, digits: 2, about: "funds confirmation" },
  { prefix: "PAY-", last: 9, digits: 2, about: "payments" },
  { prefix: "STA-", last: 1, digits: 2, about: "deadlines" },
  { prefix: "HDR-", last: 2, digits: 2, about: "FAPI headers" },
  { prefix: "ERR-", last: 1, digits: 2, about: "error bodies" },
  { prefix: "RAT-", last: 1, digits: 2, about: "rate limits" },
  { prefix: "VER-", last: 1, digits: 2, about: "versions and unknown paths" },
];

/** Criteria that no test stands for, each with its reason. */
export const INAPPLICABLE: readonly Inapplicable[] = [];

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

/**
 * The measured stages of a payment, each with its floor: the operations that no implementation can avoid. A test
 * compares these counts with the platform's own (`tests/platform/guards/http/request_costs.test.ts`).
 */

/** Operations of one request. */
export interface Operations {
  /** PS256 verifications. */
  readonly verify: number;
  /** PS256 signatures. */
  readonly sign: number;
  /** RSA-OAEP-256 encryptions. */
  readonly encrypt: number;
  /** RSA-OAEP-256 decryptions. */
  readonly decrypt: number;
  /** SHA-256 of about 1 KiB. */
  readonly hash: number;
  /** Of the one commit: keys that are written, keys that are checked, and bytes of the values as JSON. */
  readonly writes: number;
  readonly checks: number;
  readonly commitBytes: number;
}

/** A stage. `target`: ours over the floor in processor time, at concurrency 8. */
export interface Stage {
  readonly name: StageName;
  readonly floor: Operations;
  readonly target: number;
}

/** Names of the stages, in the order of a payment. */
export type StageName =
  | "token (client credentials)"
  | "consent POST"
  | "consent GET"
  | "PAR"
  | "authorize"
  | "back channel GET"
  | "back channel PUT"
  | "bank return"
  | "token (code)"
  | "payment POST"
  | "payment GET";

/** A read: one proof checked, one answer signed, the proof's `jti` spent. The access token is hashed without WebCrypto. */
const READ: Operations = {
  verify: 1,
  sign: 1,
  encrypt: 0,
  decrypt: 0,
  hash: 0,
  writes: 1,
  checks: 1,
  commitBytes: 33,
};
/** A form request: the client's assertion is verified, and no signature is made. */
const FORM: Operations = { ...READ, sign: 0, hash: 1 };
/** A page that leads on to the bank, or back from it. */
const REDIRECT: Operations = { ...READ, verify: 0, sign: 0, hash: 2 };

/** The stages, in the order of a payment. */
export const STAGES: readonly Stage[] = [
  {
    name: "token (client credentials)",
    floor: { ...FORM, verify: 2, writes: 3, checks: 2, commitBytes: 284 },
    target: 1.3,
  },
  {
    name: "consent POST",
    floor: { ...READ, verify: 2, hash: 1, writes: 10, checks: 3, commitBytes: 4560 },
    target: 1.3,
  },
  { name: "consent GET", floor: READ, target: 1.4 },
  { name: "PAR", floor: { ...FORM, writes: 5, checks: 2, commitBytes: 2412 }, target: 1.3 },
  {
    name: "authorize",
    floor: { ...REDIRECT, sign: 1, encrypt: 1, writes: 5, checks: 3, commitBytes: 3380 },
    target: 1.2,
  },
  { name: "back channel GET", floor: { ...READ, sign: 0 }, target: 1.3 }, // its body is that of the consent GET
  {
    name: "back channel PUT",
    floor: { ...READ, verify: 2, writes: 5, checks: 2, commitBytes: 4150 },
    target: 1.3,
  },
  {
    name: "bank return",
    floor: { ...REDIRECT, verify: 1, decrypt: 1, hash: 6, writes: 13, checks: 4, commitBytes: 4310 },
    target: 1.2,
  },
  {
    name: "token (code)",
    floor: { ...FORM, verify: 2, hash: 3, writes: 7, checks: 4, commitBytes: 3400 },
    target: 1.3,
  },
  {
    name: "payment POST",
    floor: { ...READ, verify: 2, hash: 2, writes: 14, checks: 4, commitBytes: 5950 },
    target: 1.3,
  },
  { name: "payment GET", floor: READ, target: 1.4 },
];

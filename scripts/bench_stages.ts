/** The measured stages of a payment, each with the operations that nobody can save: its floor. */

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
  /** Bytes in the writes of the one commit. */
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

const NONE: Operations = { verify: 0, sign: 0, encrypt: 0, decrypt: 0, hash: 4, commitBytes: 400 };

/** Answers of resource endpoints are signed, so each has a signature in its floor. */
export const STAGES: readonly Stage[] = [
  { name: "token (client credentials)", floor: { ...NONE, verify: 2 }, target: 1.3 },
  { name: "consent POST", floor: { ...NONE, verify: 2, sign: 1, commitBytes: 2000 }, target: 1.3 },
  { name: "consent GET", floor: { ...NONE, verify: 1, sign: 1 }, target: 1.4 },
  { name: "PAR", floor: { ...NONE, verify: 1, commitBytes: 600 }, target: 1.3 },
  { name: "authorize", floor: { ...NONE, sign: 1, encrypt: 1, commitBytes: 600 }, target: 1.2 },
  { name: "back channel GET", floor: { ...NONE, verify: 1, sign: 1 }, target: 1.3 },
  { name: "back channel PUT", floor: { ...NONE, verify: 2, sign: 1, commitBytes: 1500 }, target: 1.3 },
  { name: "bank return", floor: { ...NONE, verify: 1, decrypt: 1, commitBytes: 2500 }, target: 1.2 },
  { name: "token (code)", floor: { ...NONE, verify: 2, commitBytes: 800 }, target: 1.3 },
  { name: "payment POST", floor: { ...NONE, verify: 2, sign: 1, commitBytes: 4000 }, target: 1.3 },
  { name: "payment GET", floor: { ...NONE, verify: 1, sign: 1 }, target: 1.4 },
];

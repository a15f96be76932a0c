/** The form of a bundle (`docs/contract/evidence.md`). */
import { z } from "zod";

const hash = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/);
const jwt = z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/);
const count = z.int().nonnegative();
/** 16 random bytes. */
const salt = z.string().regex(/^[A-Za-z0-9_-]{22}$/);

const authentication = z.looseObject({
  clientId: z.string(),
  certificate: hash,
  method: z.string(),
  target: z.string(),
  assertion: z.looseObject({ kid: z.string(), jtiHash: hash }).optional(),
  token: hash.optional(),
  proof: jwt.optional(),
});

const item = z.strictObject({
  kind: z.string(),
  sha256: hash,
  key: hash.optional(),
});

/** Other members are kept: the leaf covers every member of a record. */
const record = z.looseObject({
  at: z.int(),
  event: z.string(),
  actor: z.string(),
  subject: z.string(),
  reason: z.string().optional(),
  interactionId: z.string().optional(),
  sequence: z.int().positive(),
  salt,
  previous: hash.optional(),
  authentication: authentication.optional(),
  issued: z.strictObject({ code: hash.optional(), token: hash.optional() }).optional(),
  page: z.looseObject({ language: z.string(), sha256: hash }).optional(),
  items: z.array(item).optional(),
  deleted: z.array(z.string()).optional(),
  documents: z.array(z.strictObject({ kind: z.string(), sha256: hash })).optional(),
});

const body = z.strictObject({ bytes: base64url, signature: z.string().optional(), salt });

const entry = z.strictObject({
  record,
  position: z.int(),
  bodies: z.array(body.nullable()),
  /** Absent with `proof` if the log does not have the entry. */
  index: count.optional(),
  proof: z.array(hash).max(64).optional(),
});

/** An entry of which the reader of the bundle has the leaf alone. */
const withheldEntry = z.strictObject({
  leaf: hash,
  subject: z.string(),
  sequence: z.int().positive(),
  position: z.int(),
  index: count.optional(),
  proof: z.array(hash).max(64).optional(),
});

const key = z.looseObject({ kty: z.literal("RSA"), n: base64url, e: z.literal("AQAB"), kid: z.string() });

export const bundleSchema = z.strictObject({
  format: z.literal("evidence-bundle-1"),
  checkpoint: jwt,
  statement: jwt,
  documents: z.array(z.string()),
  entries: z.array(entry).min(1),
  keys: z.array(key).min(1),
  /** In a bundle for a participant. */
  withheld: z.array(withheldEntry).optional(),
});

/** The proof that retention has deleted a case. */
export const deletionSchema = z.strictObject({
  format: z.literal("evidence-deletion-1"),
  checkpoint: jwt,
  statement: jwt,
  entry,
  keys: z.array(key).min(1),
});

export const deletionStatementSchema = z.strictObject({
  iss: z.string(),
  cell: z.string(),
  iat: count,
  case: z.string(),
  bundle_sha256: hash,
});

/** The evidence of an entry that names deleted cases: class, rule, time (milliseconds), and hashes of the cases. */
export const appliedSchema = z.strictObject({
  class: z.string(),
  rule: z.string(),
  until: z.int(),
  count,
  cases: z.array(hash),
});

/** Claims of the statement: times in Unix seconds, the number of entries of each history, and dynamic linking. */
export const statementSchema = z.strictObject({
  iss: z.string(),
  cell: z.string(),
  iat: count,
  consent: z.string(),
  payment: z.string(),
  consent_entries: count,
  payment_entries: count,
  linked: z.enum(["proven", "not claimed"]),
  /** The participant for which the bundle was made. Absent: an operator. */
  reader: z.enum(["tpp", "bank"]).optional(),
  bundle_sha256: hash,
});

export type Bundle = z.infer<typeof bundleSchema>;
export type BundleEntry = Bundle["entries"][number];
export type WithheldEntry = NonNullable<Bundle["withheld"]>[number];
/** A piece of evidence whose digest and signature are good. */
export interface Piece {
  readonly entry: BundleEntry;
  readonly kind: string;
  /** What the bytes say. */
  readonly content: unknown;
}

export type Body = z.infer<typeof body>;
export type Item = z.infer<typeof item>;
export type Deletion = z.infer<typeof deletionSchema>;
export type DeletionStatement = z.infer<typeof deletionStatementSchema>;
export type Statement = z.infer<typeof statementSchema>;
export type Key = z.infer<typeof key>;
export { key as keySchema };

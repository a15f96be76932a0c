/** The steps of a verification that bundles and deletions share (`docs/contract/evidence.md`, verification). No I/O. */
import canonicalize from "canonicalize";
import { asHash, type Hash, leafHash } from "../../../src/base/merkle/tree.ts";
import { provesInclusion } from "../../../src/base/merkle/verify.ts";
import type {
  Body,
  Bundle,
  BundleEntry,
  Deletion,
  DeletionStatement,
  Key,
  Piece,
  Statement,
} from "./bundle_schema.ts";
import { chainFaults, type Revocations } from "./certificates.ts";
import { type Checkpoint, readCheckpoint } from "../log/checkpoint.ts";
import { base64url, bytesOf, digestOf, jsonIn, kidOf, openJws } from "./signatures.ts";
import { noteSigner, type Signers } from "./signers.ts";

/** The proof that retention has deleted a case. */
export interface DeletionFound {
  readonly statement: DeletionStatement;
  readonly bundle: Deletion;
  /** The record of the entry. Absent if it does not name the case. */
  readonly applied?: {
    readonly class: string;
    readonly rule: string;
    readonly until: number;
    readonly count: number;
  };
}

/** The findings of a verification. */
export interface Findings {
  bundle?: Bundle;
  statement?: Statement;
  /** In place of `bundle` and `statement`, if the case was deleted. */
  deletion?: DeletionFound;
  checkpoint?: Checkpoint;
  /** Signatures that verify. */
  signatures: number;
  /** Pieces of evidence that are named and no longer there. */
  deleted: number;
  /** Pieces of evidence that are not for the participant for which the bundle was made. */
  withheld: number;
  /** Whose keys they are, the reader must know from elsewhere. */
  readonly signers: Signers;
  /** Kinds of evidence without a signature. */
  readonly unsigned: Set<string>;
  /** Evidence whose digest and signature are good. */
  readonly pieces: Piece[];
  /** The reader's list of revoked certificates. */
  readonly revoked: Revocations;
}

export function newFindings(revoked: Revocations = new Map()): Findings {
  return {
    signatures: 0,
    deleted: 0,
    withheld: 0,
    signers: new Map(),
    unsigned: new Set(),
    pieces: [],
    revoked,
  };
}

/** Returns the RFC 8785 form of a JSON value, or an empty text if it has none, as for 1e999. */
export function canonicalOf(value: unknown): string {
  try {
    return canonicalize(value) ?? "";
  } catch {
    return "";
  }
}

export async function* verifyCheckpoint(
  bundle: Pick<Bundle, "checkpoint" | "keys">,
  findings: Findings,
): AsyncGenerator<string> {
  const typ = "evidence-log-checkpoint+jwt";
  const checkpoint = readCheckpoint(
    yield* openPlatformJws("checkpoint", bundle.checkpoint, typ, bundle, findings),
  );
  if (checkpoint === undefined) return yield "the checkpoint has not its claims";
  findings.checkpoint = checkpoint;
  const statement = findings.statement ?? findings.deletion?.statement;
  if (statement !== undefined && (statement.iss !== checkpoint.iss || statement.cell !== checkpoint.cell)) {
    yield "the checkpoint is of another log";
  }
}

export async function* openPlatformJws(
  name: string,
  jws: string,
  typ: string,
  { keys }: { readonly keys: readonly Key[] },
  findings: Findings,
): AsyncGenerator<string, unknown> {
  const key = keys.find(({ kid }) => kid === kidOf(jws));
  const payload = key === undefined ? undefined : await openJws(jws, key, typ);
  if (key === undefined || payload === undefined) {
    return yield `the platform's signature of the ${name} does not verify`;
  }
  findings.signatures++;
  noteSigner(findings.signers, "platform", name, key);
  return jsonIn(payload);
}

/** Returns the leaf hash of a record (EV1, EN5). */
export function leafOf(record: BundleEntry["record"]): Hash {
  return leafHash(new TextEncoder().encode(canonicalOf(record)));
}

/** The leaf of the entry is in the signed log, and each body has the digest that the entry names. */
export function* verifyEntry(entry: BundleEntry, checkpoint: Checkpoint | undefined): Generator<string> {
  const { record, bodies } = entry;
  const name = entryName(entry);
  if (!isInLog(leafOf(record), entry, checkpoint)) yield `${name} is not in the signed log`;
  const items = record.items ?? [];
  if (items.length !== bodies.length) return yield `${name} has not the evidence that it names`;
  for (const [at, item] of items.entries()) {
    const body = bodies[at];
    if (body && bodyDigest(body) !== item.sha256) yield `the ${item.kind} of ${name} was changed`;
  }
}

/** Whether the signed log has the leaf. Without a checkpoint another sentence says that nothing holds. */
export function isInLog(
  leaf: Hash | undefined,
  { index, proof }: Pick<BundleEntry, "index" | "proof">,
  checkpoint: Checkpoint | undefined,
): boolean {
  if (checkpoint === undefined) return true;
  const { size, root } = checkpoint;
  const hashes = (proof ?? []).flatMap((hash) => asHash(hash) ?? []);
  return leaf !== undefined && index !== undefined && hashes.length === proof?.length &&
    provesInclusion({ leaf, index, size, root, proof: hashes });
}

function bodyDigest({ bytes, signature = "", salt }: Body): string | undefined {
  const [content, random] = [bytesOf(bytes), bytesOf(salt)];
  if (content === undefined || random === undefined) return undefined;
  return base64url(digestOf(random, digestOf(content), digestOf(signature)));
}

export async function* verifyKey(
  name: string,
  key: Key,
  at: number,
  findings: Findings,
): AsyncGenerator<string> {
  for (const fault of await chainFaults(key, at, findings.revoked)) yield `${name} ${fault}`;
}

export function entryName({ record: { subject, sequence, event } }: BundleEntry): string {
  return `entry ${sequence} of ${subject} (${event})`;
}

/** The digest that the platform has signed is that of the file, and the certificates of its keys are good. */
export async function* verifySigned(
  signed: Readonly<Record<string, unknown>> & { readonly keys: readonly Key[] },
  { bundle_sha256, iat }: { readonly bundle_sha256: string; readonly iat: number },
  findings: Findings,
): AsyncGenerator<string> {
  if (bundle_sha256 !== base64url(digestOf(canonicalOf(signed)))) {
    yield "the file was changed after the platform signed it: its digest is not the one of the statement";
  }
  if (new Set(signed.keys.map(({ kid }) => kid)).size !== signed.keys.length) {
    yield "two of the platform's keys have the same kid";
  }
  for (const key of signed.keys) yield* verifyKey(`the platform's key ${key.kid}`, key, iat * 1000, findings);
}

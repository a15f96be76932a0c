/**
 * Verifies a bundle from its text alone (`docs/contract/evidence.md`, verification). Yields a sentence for each
 * thing that does not hold, the cheap checks first. No I/O.
 */
import { asHash, isSameHash } from "../../../src/base/merkle/tree.ts";
import {
  type Body,
  type Bundle,
  type BundleEntry,
  bundleSchema,
  type Item,
  type Key,
  keySchema,
  type Statement,
  statementSchema,
} from "./bundle_schema.ts";
import { base64url, bytesOf, digestOf, isDetachedJws, jsonIn, kidOf, openJws } from "./signatures.ts";
import { verifyAgreement } from "./agreement.ts";
import { verifyDispute } from "./disputes.ts";
import { verifyLinking } from "./linking.ts";
import { isWithheld, type Link, linksOf, verifyWithheld, withheldName } from "./withheld.ts";
import { clientOf, isTimely, verifyRequests } from "./proofs.ts";
import { verifyRequired } from "./required.ts";
import { noteSigner, type SignedKind, signedKind } from "./signers.ts";
import { isDeletion, verifyDeletion } from "./verify_deletion.ts";
import {
  canonicalOf,
  entryName,
  type Findings,
  isInLog,
  openPlatformJws,
  verifyCheckpoint,
  verifyEntry,
  verifyKey,
  verifySigned,
} from "./verify_parts.ts";

/** Yields what does not hold. If it ends without a sentence, everything holds. */
export async function* verifyBundle(bytes: Uint8Array, findings: Findings): AsyncGenerator<string> {
  const value = jsonIn(bytes);
  if (value === undefined) return yield "the file is not JSON in UTF-8";
  if (!isSameHash(digestOf(canonicalOf(value), "\n"), digestOf(bytes))) {
    return yield "the file is not in canonical form (RFC 8785)";
  }
  if (isDeletion(value)) return yield* verifyDeletion(value, findings);
  const parsed = bundleSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return yield `the bundle has not its form: ${issue?.path.join(".")} ${issue?.message}`;
  }
  const bundle = findings.bundle = parsed.data;
  yield* verifyStatement(value as Bundle, findings);
  yield* verifyCheckpoint(bundle, findings);
  yield* verifyOrder(linksOf(bundle), findings.statement);
  for (const entry of bundle.entries) yield* verifyEntry(entry, findings.checkpoint);
  for (const entry of bundle.withheld ?? []) {
    const isIn = isInLog(asHash(entry.leaf), entry, findings.checkpoint);
    if (!isIn) yield `${withheldName(entry)} is not in the signed log`;
  }
  if (findings.statement !== undefined) yield* verifyWithheld(bundle, findings.statement);
  const documents = new Map(bundle.documents.map((text) => [base64url(digestOf(text)), text]));
  const gone = new Set(bundle.entries.flatMap(({ record }) => record.deleted ?? []));
  for (const entry of bundle.entries) yield* verifyEvidence(entry, documents, gone, findings);
  yield* verifyNamed(bundle, documents);
  if (findings.statement === undefined) return;
  yield* verifyRequired(bundle.entries, findings.statement);
  yield* verifyRequests(bundle.entries, findings.statement);
  yield* verifyAgreement(findings.pieces, bundle.entries, bundle.documents, findings.statement);
  yield* verifyLinking(findings.pieces, findings.statement);
  yield* verifyDispute(findings.pieces, bundle.entries);
}

/** The platform's signature over the whole file. */
async function* verifyStatement(bundle: Bundle, findings: Findings): AsyncGenerator<string> {
  const { statement, ...signed } = bundle;
  const payload = yield* openPlatformJws("statement", statement, "evidence-bundle+jwt", bundle, findings);
  const claims = statementSchema.safeParse(payload);
  if (!claims.success) return yield "the statement has not its claims";
  findings.statement = claims.data;
  yield* verifySigned(signed, claims.data, findings);
}

/** Completeness: the numbers of each history are 1, 2, 3 … up to the stated number, in the order of the positions. */
function* verifyOrder(links: readonly Link[], statement: Statement | undefined): Generator<string> {
  if (statement === undefined) return;
  const stated = new Map([
    [statement.consent, statement.consent_entries],
    [statement.payment, statement.payment_entries],
  ]);
  const last = new Map<string, { sequence: number; position: number; leaf?: string }>();
  let position = -Infinity;
  for (const { record, subject, sequence, leaf, position: next } of links) {
    const before = last.get(subject) ?? { sequence: 0, position: -Infinity };
    if (!stated.has(subject)) yield `an entry is of ${subject}, another case`;
    if (next < position || next <= before.position) yield `entry ${sequence} of ${subject} is out of order`;
    if (sequence !== before.sequence + 1) {
      yield `entries of ${subject} are missing before ${sequence}`;
    }
    if (record !== undefined && record.previous !== before.leaf) {
      yield `entry ${sequence} of ${subject} names another entry before it`;
    }
    last.set(subject, { sequence, position: next, leaf });
    position = next;
  }
  for (const [subject, count] of stated) {
    if ((last.get(subject)?.sequence ?? 0) !== count) yield `the last entries of ${subject} are missing`;
  }
}

/** Each text is named by an entry, and is there once. */
function* verifyNamed({ entries, documents }: Bundle, texts: ReadonlyMap<string, string>): Generator<string> {
  const named = new Set(entries.flatMap(({ record: { items = [], documents: also = [] } }) => [
    ...items.flatMap(({ key }) => key ?? []),
    ...also.map(({ sha256 }) => sha256),
  ]));
  if (documents.length > texts.size) yield "a document is there twice";
  for (const sha256 of texts.keys()) if (!named.has(sha256)) yield "a document is named by no entry";
}

async function* verifyEvidence(
  entry: BundleEntry,
  documents: ReadonlyMap<string, string>,
  gone: ReadonlySet<string>,
  findings: Findings,
): AsyncGenerator<string> {
  const { record, bodies } = entry;
  for (const { kind, sha256 } of record.documents ?? []) {
    if (!documents.has(sha256)) yield `the ${kind} of ${entryName(entry)} is missing`;
  }
  for (const [at, item] of (record.items ?? []).entries()) {
    const body = bodies[at];
    if (body) {
      yield* verifyItem(entry, item, body, documents, findings);
      continue;
    }
    if (isWithheld(item.kind, findings.statement?.reader)) findings.withheld++;
    else findings.deleted++;
    yield* verifyGone(entry, item, documents, findings);
    const place = `${record.subject} ${record.sequence} ${item.kind}`;
    if (!gone.has(place) && !isWithheld(item.kind, findings.statement?.reader)) {
      yield `the ${item.kind} of ${entryName(entry)} is missing, and no entry says that it was deleted`;
    }
  }
}

/** The key of a deleted piece is still there, with its certificates (steps 7 and 9). */
async function* verifyGone(
  entry: BundleEntry,
  item: Item,
  documents: ReadonlyMap<string, string>,
  findings: Findings,
): AsyncGenerator<string> {
  const name = `the ${item.kind} of ${entryName(entry)}`;
  if ((signedKind(item.kind) === undefined) !== (item.key === undefined)) yield `${name} is not signed`;
  if (item.key === undefined) return;
  const key = keyIn(documents, item.key);
  if (key === undefined) yield `the key of ${name} is missing`;
  else yield* verifyKey(`the key of ${name}`, key, entry.record.at, findings);
}

async function* verifyItem(
  entry: BundleEntry,
  item: Item,
  body: Body,
  documents: ReadonlyMap<string, string>,
  findings: Findings,
): AsyncGenerator<string> {
  const name = `the ${item.kind} of ${entryName(entry)}`;
  const bytes = bytesOf(body.bytes) ?? new Uint8Array();
  if (item.kind === "decision") yield* verifyPage(name, entry, bytes);
  const kind = signedKind(item.kind);
  if (item.key === undefined) {
    findings.unsigned.add(item.kind);
    if (body.signature !== undefined) yield `${name} names no key`;
    if (kind !== undefined) yield `${name} is not signed`;
    else findings.pieces.push({ entry, kind: item.kind, content: decodeEvidence(item.kind, bytes) });
    return;
  }
  if (kind === undefined) return yield `${name} is signed, and this program does not know who signs it`;
  const key = keyIn(documents, item.key);
  if (key === undefined) return yield `the key of ${name} is missing`;
  const content = await signedContent(kind, body, bytes, key);
  if (content === undefined) return yield `the signature of ${name} does not verify`;
  findings.signatures++;
  noteSigner(findings.signers, kind.by, item.kind, key);
  findings.pieces.push({ entry, kind: item.kind, content: jsonIn(content) });
  const jws = body.signature ?? new TextDecoder().decode(bytes);
  if (kidOf(jws) !== key.kid) yield `${name} names another key than the one that verifies it`;
  if (body.signature !== undefined) yield* verifySigner(name, entry, body.signature);
  yield* verifyKey(`the key of ${name}`, key, entry.record.at, findings);
  if (!isOfCase(kind, content, findings.statement)) yield `${name} is about another ${kind.names?.of}`;
}

function keyIn(documents: ReadonlyMap<string, string>, sha256: string): Key | undefined {
  return keySchema.safeParse(jsonIn(new TextEncoder().encode(documents.get(sha256)))).data;
}

function decodeEvidence(kind: string, bytes: Uint8Array): unknown {
  if (kind !== "pushed_request") return jsonIn(bytes);
  return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));
}

/** A detached signature names its time and its client in its header, if it names them. */
function* verifySigner(name: string, { record }: BundleEntry, signature: string): Generator<string> {
  if (!isTimely(signature, record.at)) yield `${name} was signed at another time`;
  if ((clientOf(signature) ?? record.actor) !== record.actor) yield `${name} was signed for another client`;
}

/** Returns what was signed, or undefined if the signature does not verify or has another form than its kind has. */
async function signedContent(
  { form }: SignedKind,
  { signature }: Body,
  bytes: Uint8Array<ArrayBuffer>,
  key: Key,
): Promise<Uint8Array | undefined> {
  if ((form === "detached") !== (signature !== undefined)) return undefined;
  if (signature === undefined) return await openJws(new TextDecoder().decode(bytes), key);
  return await isDetachedJws(signature, bytes, key) ? bytes : undefined;
}

/** A genuine signature of another case proves nothing here. */
function isOfCase({ names }: SignedKind, content: Uint8Array, statement: Statement | undefined): boolean {
  if (names === undefined || statement === undefined) return true;
  let found: unknown = jsonIn(content);
  for (const member of names.at) found = Object(found)[member];
  return found === statement[names.of];
}

/** The facts that the customer saw on the platform's screen. */
function* verifyPage(name: string, { record }: BundleEntry, bytes: Uint8Array): Generator<string> {
  const decision = jsonIn(bytes);
  const page = typeof decision === "object" && decision !== null ? Reflect.get(decision, "page") : undefined;
  if (record.page?.sha256 !== base64url(digestOf(canonicalOf(page)))) {
    yield `the screen of ${name} is not the one whose hash the entry has`;
  }
}

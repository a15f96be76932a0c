/**
 * Bundles: one file with everything that proves a case, verifiable without the platform (contract EV9 to
 * EV12). Its text is canonical, and the platform signs its digest.
 */
import { lostData } from "../../guards/security/standing.ts";
import canonicalize from "canonicalize";
import { decodeObject, type JsonObject } from "../../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../../base/jose/key_ring.ts";
import { signClaims } from "../../../base/jose/own_key.ts";
import { type Clock, unixSeconds } from "../../../base/kernel/clock.ts";
import { base64url, type ConsentId, paymentIdOf, sha256 } from "../../../base/kernel/identifiers.ts";
import { hashText } from "../../../base/merkle/tree.ts";
import type { Store } from "../../../base/store/store.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { leafHash } from "../../evidence/evidence.ts";
import { type CaseEntry, type CaseFile, readCase } from "../../evidence/read_case.ts";
import type { LogOrigin } from "../../evidence/evidence_log/checkpoint.ts";
import { type LogView, viewLog } from "../../evidence/evidence_log/log_proofs.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import { transactionDigest } from "../../core/consents/transaction_digest.ts";
import { consentRequestSchema } from "../../core/consents/consent_schema.ts";
import { bodyOf, entryAt, piecesOf } from "../../evidence/audit_trail.ts";
import { caseIdOf } from "../../evidence/data_keys/case_keys.ts";
import { type DeletedCase, deletedCase } from "../../evidence/deleted_case_store.ts";

export interface BundleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly evidenceLog: LogStore;
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly origin: LogOrigin;
  readonly ownKeyRing: KeyRing;
}

export type Json = { readonly [name: string]: unknown };

/**
 * Returns the bundle of a consent and its payment: canonical JSON and a line feed.
 *
 * @param reader the participant that reads it; an operator reads everything
 * @returns null if the consent has no history, and `"waiting"` if an entry has no place in the log yet, or if the case
 * has changed meanwhile
 */
export async function bundleOf(
  deps: BundleDeps,
  consentId: ConsentId,
  reader?: CaseReader,
): Promise<string | null | "waiting"> {
  const counts = await entryCounts(deps, consentId);
  const whole = await readCase(deps.store, consentId);
  if (whole === null) return null;
  const file = reader === undefined ? whole : readableFor(whole, reader);
  const log = await viewLog(deps.evidenceLog);
  if (log === null) return "waiting";
  const hidden = reader === undefined ? [] : file.entries.filter(isOperators);
  const shown = file.entries.filter((entry) => !hidden.includes(entry));
  const entries = await Promise.all(shown.map((entry) => representEntry(entry, log)));
  const withheld = await Promise.all(hidden.map((entry) => representWithheld(entry, log)));
  if (entries.includes("waiting") || withheld.includes("waiting")) return "waiting";
  const unsigned = {
    format: "evidence-bundle-1",
    checkpoint: log.checkpoint,
    documents: [...file.documents.values()].toSorted(),
    entries,
    ...(reader === undefined ? {} : { withheld }),
  };
  // Of a case that has changed meanwhile, entries would seem to be missing.
  if (canonicalize(await entryCounts(deps, consentId)) !== canonicalize(counts)) return "waiting";
  const claims = {
    ...counts,
    linked: linkedIn(file.entries),
    ...(reader === undefined ? {} : { reader }),
  };
  return await withStatement(deps, unsigned, "evidence-bundle+jwt", claims);
}

/** Adds the published keys and a signature over the digest. Returns the text of the bundle. */
export async function withStatement(
  { origin, clock, ownKeyRing }: Pick<BundleDeps, "origin" | "clock" | "ownKeyRing">,
  content: Json,
  typ: string,
  claims: JsonObject,
): Promise<string> {
  const { kid, key } = ownKeyRing.signer; // published at this moment
  const unsigned = { ...content, keys: ownKeyRing.publicJwks.keys.filter(({ use }) => use === "sig") };
  const statement = await signClaims(
    {
      iss: origin.issuer,
      cell: origin.cell,
      iat: unixSeconds(clock()),
      ...claims,
      bundle_sha256: await sha256(canonicalize(unsigned) ?? ""),
    },
    { kid, key },
    typ,
  );
  return `${canonicalize({ ...unsigned, statement })}\n`;
}

/**
 * An entry that was changed is not in the log.
 *
 * @throws {ApiError} `platform.unavailable` if the data key of its evidence is lost
 */
async function representEntry(
  { subject, position, entry, items }: CaseEntry,
  log: LogView,
): Promise<Json | "waiting"> {
  const bodies = items.map(({ body }) => {
    if (body === "lost") throw lostData(); // without it the bundle would contradict the log
    return body === null ? null : { ...body, bytes: base64url(body.bytes) };
  });
  const place = await placeIn(log, { subject, entry });
  return place === "waiting" ? place : { record: { ...entry, subject }, position, bodies, ...place };
}

/** An entry of which the reader gets the leaf alone (contract EV18). */
async function representWithheld(
  { subject, position, entry }: CaseEntry,
  log: LogView,
): Promise<Json | "waiting"> {
  const place = await placeIn(log, { subject, entry });
  if (place === "waiting") return place;
  return { leaf: hashText(leafHash(subject, entry)), subject, sequence: entry.sequence, position, ...place };
}

/** Returns the place of an entry in the log, or none if the log does not have it. */
async function placeIn(
  log: LogView,
  { subject, entry }: Pick<CaseEntry, "subject" | "entry">,
): Promise<Json | "waiting"> {
  const leaf = leafHash(subject, entry);
  const inclusion = await log.inclusion(leaf, entry.at);
  if (inclusion !== undefined) return { index: inclusion.index, proof: inclusion.proof.map(hashText) };
  return await log.isAwaited(leaf, entry.at) ? "waiting" : {};
}

/** The numbers of the newest entries stand in the consent and the payment too, so that a removed one is missed. */
async function entryCounts(deps: BundleDeps, consentId: ConsentId): Promise<JsonObject> {
  const paymentId = await paymentIdOf(consentId);
  const [consent, payment] = await Promise.all([
    deps.consents.find(deps.store, consentId),
    deps.payments.find(deps.store, paymentId),
  ]);
  return {
    consent: consentId,
    payment: paymentId,
    consent_entries: consent?.value.sequence ?? 0,
    payment_entries: payment?.value.sequence ?? 0,
  };
}

/** A participant of a case, who may read what it has sent or received itself (contract EV18). */
type CaseReader = "tpp" | "bank";

const OWN: Readonly<Record<CaseReader, readonly string[]>> = {
  tpp: ["consent_request", "pushed_request", "payment_request", "tpp_dispute", "bank_dispute"],
  bank: [
    "handover",
    "payer_accounts",
    "sca_result",
    "order",
    "order_response",
    "status_report",
    "stated_order",
    "tpp_dispute",
    "bank_dispute",
  ],
};

/** The case as this reader may see it: evidence of others is withheld as if it were deleted. */
function readableFor(file: CaseFile, reader: CaseReader): CaseFile {
  const entries = file.entries.map((each) => ({
    ...each,
    items: each.items.map(({ item, body }) => ({
      item,
      body: OWN[reader].includes(item.kind) ? body : null,
    })),
  }));
  return { ...file, entries };
}

/** Whether a participant gets the leaf alone: the record names an operator, with the operator's words. */
function isOperators({ entry: { actor } }: CaseEntry): boolean {
  return actor.startsWith("operator ");
}

/**
 * Whether a case proves dynamic linking: the bank has signed the digest of what the TPP requested (contract EV16).
 * Reads the bank's result of the session that authorised the consent. What is deleted proves nothing.
 */
function linkedIn(entries: readonly CaseEntry[]): "proven" | "not claimed" {
  const authorised = entries.findIndex(({ entry }) => entry.event === "consent.Authorized");
  const [request] = textsOf(entries, "consent_request");
  if (authorised < 0 || request === undefined) return "not claimed";
  const [decision] = textsOf(entries.slice(authorised, authorised + 1), "decision");
  const session = decision === undefined ? undefined : members(decision)["session"];
  const result = textsOf(entries.slice(0, authorised + 1), "sca_result").map(claimsOf)
    .findLast((claims) => session === undefined || claims["correlation_id"] === session);
  const requested = consentRequestSchema.safeParse(members(request)); // changed evidence has no form
  const digest = requested.success ? transactionDigest(requested.data.Data.Initiation) : null;
  return result?.["transaction_digest"] === digest ? "proven" : "not claimed";
}

function textsOf(entries: readonly CaseEntry[], kind: string): readonly string[] {
  return entries.flatMap(({ items }) =>
    items.flatMap(({ item, body }) =>
      item.kind !== kind || body === null || body === "lost" ? [] : new TextDecoder().decode(body.bytes)
    )
  );
}

function members(text: string): JsonObject {
  const parsed = strictJson(text);
  return parsed.ok ? Object(parsed.value) : {};
}

function claimsOf(jws: string): JsonObject {
  const claims = decodeObject("claims", jws.split(".")[1] ?? "");
  return claims.ok ? claims.value : {};
}

/**
 * Returns the bundle of the deletion of a case: the entry of the evidence log that names it, so that anyone can tell a
 * case that retention has deleted from one that was lost (contract EN14, EV13).
 *
 * @param id of the consent or of its payment
 * @returns null if the case was not deleted, and `"waiting"` if the entry has no place in the log yet
 */
export async function deletionOf(deps: BundleDeps, id: string): Promise<string | null | "waiting"> {
  const caseId = caseIdOf(id);
  const deleted = await deletedWith(deps.store, id);
  if (caseId === undefined || deleted === null) return null;
  const [named, log] = await Promise.all([namedEntry(deps.store, deleted), viewLog(deps.evidenceLog)]);
  if (named === null || log === null) return "waiting";
  const entry = await representEntry(named, log);
  if (entry === "waiting") return "waiting";
  const unsigned = { format: "evidence-deletion-1", checkpoint: log.checkpoint, entry };
  return await withStatement(deps, unsigned, "evidence-deletion+jwt", { case: caseId });
}

/** Returns the entry that names a deleted case, or null. `id` is that of the consent or of its payment. */
export async function deletionEntry(store: Store, id: string): Promise<CaseEntry | null> {
  const deleted = await deletedWith(store, id);
  return deleted === null ? null : await namedEntry(store, deleted);
}

async function deletedWith(store: Store, id: string): Promise<DeletedCase | null> {
  const caseId = caseIdOf(id);
  return caseId === undefined ? null : await deletedCase(store, caseId);
}

async function namedEntry(store: Store, { subject, position }: DeletedCase): Promise<CaseEntry | null> {
  const entry = await entryAt(store, subject, position);
  if (entry === null) return null;
  const placed = { subject, position, entry };
  const bodies = await Promise.all(piecesOf(placed).map((piece) => bodyOf(store, piece)));
  return {
    ...placed,
    items: (entry.items ?? []).map((item, index) => ({ item, body: bodies[index] ?? null })),
  };
}

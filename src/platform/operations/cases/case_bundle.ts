/**
 * Bundles: one file with everything that proves a case, verifiable without the platform (contract EV9 to
 * EV12). Its text is canonical, and the platform signs its digest.
 */
import { lostData } from "../../guards/security/standing.ts";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../../base/jose/key_ring.ts";
import { signClaims } from "../../../base/jose/own_key.ts";
import { type Clock, unixSeconds } from "../../../base/kernel/clock.ts";
import { base64url, type ConsentId, paymentIdOf, sha256 } from "../../../base/kernel/identifiers.ts";
import { hashText } from "../../../base/merkle/tree.ts";
import type { Store } from "../../../base/store/store.ts";
import type { ConsentStore } from "../../core/consents/consent_store.ts";
import { leafHash } from "../../evidence/evidence.ts";
import { linkedIn } from "./linked.ts";
import { type CaseReader, isOperators, readableFor } from "./reader.ts";
import { type CaseEntry, readCase } from "../../evidence/read_case.ts";
import type { LogOrigin } from "../../evidence/evidence_log/checkpoint.ts";
import { type LogView, viewLog } from "../../evidence/evidence_log/log_proofs.ts";
import type { LogStore } from "../../evidence/evidence_log/log_store.ts";
import type { PaymentStore } from "../../core/payments/payment_store.ts";

export interface BundleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly evidenceLog: LogStore;
  readonly consents: ConsentStore;
  readonly payments: PaymentStore;
  readonly origin: LogOrigin;
  readonly ownKeyRing: KeyRing;
}

export const BUNDLE_FORMAT = "evidence-bundle-1";
const STATEMENT_TYP = "evidence-bundle+jwt";

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
    format: BUNDLE_FORMAT,
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
  return await withStatement(deps, unsigned, STATEMENT_TYP, claims);
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
export async function representEntry(
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

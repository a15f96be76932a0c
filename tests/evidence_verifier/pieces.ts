/** Steps 6 and 7: the digests of the evidence, what was deleted, and who can have signed it. */
import { type Case, COMPACT, DETACHED, nameOf, type Piece } from "./case.ts";
import { fromBase64Url, membersOf, parsed, sha256, sha256Text } from "./encoding.ts";
import { isKey, type PublicKey } from "./form.ts";
import { type Signed, verifyCompact, verifyDetached } from "./signature.ts";

const DELETE_ALL: readonly string[] = [
  "consent.personal_data_deleted",
  "consent.evidence_deleted",
  "payment.evidence_deleted",
];

/** The evidence that a participant has sent or received (EV18). */
const OWN: Readonly<Record<string, readonly string[]>> = {
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

/** A bundle for a participant has its own evidence, and no entry of an operator. */
function* readerFaults({ bundle, entries, pieces, statement }: Case): Generator<string> {
  const reader = statement["reader"];
  if ((reader === undefined) !== (bundle.withheld === undefined)) yield "withheld, and from whom is not said";
  if (reader === undefined) return;
  for (const { body, kind } of pieces) {
    if (body !== null && !OWN[String(reader)]?.includes(kind)) yield `a ${kind} is not for the ${reader}`;
  }
  if (entries.some(({ actor }) => actor.startsWith("operator "))) {
    yield `an operator is named to the ${reader}`;
  }
}

export async function* digestFaults(facts: Case): AsyncGenerator<string> {
  const { entries, pieces, statement } = facts;
  yield* readerFaults(facts);
  const own = OWN[String(statement["reader"])];
  for (const { body, bytes, entry, item, kind, place } of pieces) {
    if (body === null) {
      if (own && !own.includes(kind)) continue;
      if (!entries.some(({ deleted = [] }) => deleted.includes(place))) {
        yield `the ${kind} of ${nameOf(entry)} is gone`;
      }
      continue;
    }
    if (!fromBase64Url(body.bytes)) yield `the ${kind} of ${nameOf(entry)} is not base64url`;
    const salt = fromBase64Url(body.salt) ?? new Uint8Array();
    const digest = sha256Text(salt, sha256(bytes), sha256(body.signature ?? ""));
    if (digest !== item.sha256) yield `the ${kind} of ${nameOf(entry)} was changed`;
  }
  if (new Set(pieces.map(({ place }) => place)).size < pieces.length) yield "two items have one place";
  for (const [at, entry] of entries.entries()) {
    const earlier = entries.slice(0, at);
    for (const place of entry.deleted ?? []) {
      const named = pieces.filter((piece) => piece.place === place && earlier.includes(piece.entry));
      if (named.length === 0) yield `${nameOf(entry)} deletes what was not there`;
      if (named.some(({ kind }) => kind !== "payer_accounts") && !DELETE_ALL.includes(entry.event)) {
        yield `${nameOf(entry)} deletes and is no erasure`;
      }
    }
  }
}

/** Returns the public key that the item names. */
export function keyOf({ documents }: Case, { item }: Piece): PublicKey | undefined {
  const key = parsed(new TextEncoder().encode(documents.get(item.key ?? "") ?? ""));
  return isKey(key) ? key as PublicKey : undefined;
}

const OF_PAYMENT: readonly string[] = ["order", "tpp_dispute", "bank_dispute"];

/** What was signed names this case. */
function namedCase({ kind, content }: Piece): unknown {
  const { ref_id, Data } = membersOf(content);
  if (kind === "handover" || kind === "sca_result") return ref_id;
  return membersOf(Data)[OF_PAYMENT.includes(kind) ? "DomesticPaymentId" : "ConsentId"];
}

const NAMES_CASE: readonly string[] = [
  "handover",
  "sca_result",
  "payment_request",
  "payer_accounts",
  "order",
  "tpp_dispute",
  "bank_dispute",
];

async function* pieceFaults(facts: Case, piece: Piece, key: PublicKey): AsyncGenerator<string> {
  const { body, bytes, kind, entry } = piece;
  const name = `the ${kind} of ${nameOf(entry)}`;
  if (body === null) return;
  if (DETACHED.has(kind) !== (body.signature !== undefined)) yield `${name} is signed in another way`;
  const signed: Signed | undefined = body.signature === undefined
    ? await verifyCompact(new TextDecoder().decode(bytes), key)
    : await verifyDetached(body.signature, bytes, key);
  if (!signed) return yield `the signature of ${name} does not verify`;
  if (signed.header["kid"] !== key.kid) yield `${name} names another key`;
  const expected = OF_PAYMENT.includes(kind) ? facts.payment : facts.consent;
  if (NAMES_CASE.includes(kind) && namedCase(piece) !== expected) yield `${name} is of another case`;
  const { "http://openbanking.org.uk/iat": iat, "http://openbanking.org.uk/iss": iss } = signed.header;
  if (iat !== undefined && !(Math.abs(Number(iat) * 1000 - entry.at) <= 3_660_000)) {
    yield `${name} has another time`;
  }
  const client = typeof iss === "string" ? iss.split("/").at(-1) ?? "" : "";
  if (client.startsWith("SC-") && client !== entry.actor) yield `${name} is signed by another client`;
}

export async function* signatureFaults(facts: Case): AsyncGenerator<string> {
  for (const piece of facts.pieces) {
    const name = `the ${piece.kind} of ${nameOf(piece.entry)}`;
    const isSigned = COMPACT.has(piece.kind) || DETACHED.has(piece.kind);
    if (!isSigned) {
      if (piece.item.key !== undefined || piece.body?.signature !== undefined) yield `${name} is signed`;
      continue;
    }
    const key = keyOf(facts, piece);
    if (!key) yield `${name} has no key`;
    else yield* pieceFaults(facts, piece, key);
  }
  const named = new Set(facts.pieces.flatMap(({ item: { key } }) => key ?? []));
  for (const entry of facts.entries) {
    for (const { sha256 } of entry.documents ?? []) {
      named.add(sha256);
      if (!facts.documents.has(sha256)) yield `a document of ${nameOf(entry)} is not there`;
    }
  }
  if (facts.bundle.documents.length > facts.documents.size) yield "a document is there twice";
  if ([...facts.documents.keys()].some((sha256) => !named.has(sha256))) {
    yield "a document that no entry names";
  }
}

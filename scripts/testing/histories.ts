/**
 * Reads histories for tests, and compares each entry with what its event must have: all members, who did it, how the
 * participant was authenticated, and the kinds of evidence (`history_shapes.txt`), and each piece of evidence with its
 * digest, signature and key. So a test that looks at event and actor alone notices a lost member.
 */
import { bodyOf, piecesOf, placedHistoryOf } from "../../src/platform/evidence/audit_trail.ts";
import { documentAt } from "../../src/platform/evidence/evidence_store.ts";
import {
  type AuditEntry,
  bodyDigest,
  type EvidenceBody,
  evidencePlace,
  leafHash,
} from "../../src/platform/evidence/evidence.ts";
import { hashText } from "../../src/base/merkle/tree.ts";
import type { Store } from "../../src/base/store/store.ts";

const SHAPES: ReadonlySet<string> = new Set(
  Deno.readTextFileSync(new URL("history_shapes.txt", import.meta.url)).split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#")),
);
/** Histories of this length differ little. */
const MAX_BODIES = 200;
const MAX_FAULTS = 10;
/** Evidence with a signature beside its bytes; the other signed kinds are compact JWS. */
const DETACHED: ReadonlySet<string> = new Set([
  "consent_request",
  "payer_accounts",
  "payment_request",
  "status_report",
  "tpp_dispute",
  "bank_dispute",
]);

/**
 * Returns the whole history of a resource, oldest first.
 *
 * @throws {Error} if an entry is not what its event must have
 */
export async function historyOf(store: Store, subject: string): Promise<readonly AuditEntry[]> {
  const history = (await placedHistoryOf(store, subject)).map(({ entry }) => entry);
  const faults = [
    ...history.map(shapeOf).filter((shape) => !SHAPES.has(shape)).map((shape) => `no history has: ${shape}`),
    ...chainFaults(subject, history),
    ...await bodyFaults(store, subject, history),
  ];
  if (faults.length === 0) return history;
  throw new Error(`the history of ${subject}:\n${faults.slice(0, MAX_FAULTS).join("\n")}`);
}

/** Returns the body at a place: in the row of the entry that names it, or apart. */
export async function bodyNamed(store: Store, place: string): Promise<EvidenceBody | "lost" | null> {
  const history = await placedHistoryOf(store, place.split(" ")[0] ?? "");
  return await bodyOf(store, history.flatMap(piecesOf).find((piece) => piece.place === place) ?? { place });
}

/** An entry without what differs between two of its kind. */
function shapeOf(entry: AuditEntry): string {
  const { event, sequence, reason, interactionId, issued = {}, documents = [], deleted = [], items = [] } =
    entry;
  const lists = {
    reason: reason === undefined ? [] : [FIXED.exec(reason)?.[0] ?? "(any)"],
    page: Object.keys(entry.page ?? {}),
    request: interactionId === undefined ? [] : [""],
    issued: Object.keys(issued),
    documents: documents.map(({ kind }) => kind),
    deleted: deleted.map((place) => place.replace(/^\S+ \d+ /, "")),
    items: items.map(({ kind, key }) => kind + (key === undefined ? "" : " signed")),
  };
  const all = event.endsWith("_deleted") ? { ...lists, deleted: ["(all)"] } : lists;
  const parts = Object.entries(all).filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name} ${[...new Set(list)].map((part) => part.trim()).join(", ")}`.trim());
  const first = sequence === 1 ? " first" : "";
  const has = parts.length === 0 ? "" : `: ${parts.join("; ")}`;
  return `${event}${first} by ${roleOf(entry)}${provenBy(entry)}${has}`;
}

/** Reasons that the platform words itself. */
const FIXED =
  /^(?:created|payer accounts reported|customer (?:accepted|rejected)|reported by the bank|answered to its order|not (?:authorised|used) in time|bank: (?=.)|payment (?=[0-9a-f-]{36}$)|software statement of (?=\d))/;

/** A participant acts under its client id; everyone else under a word, perhaps with a name. */
function roleOf({ actor, authentication }: AuditEntry): string {
  const known = /^(?:customer|clock|platform|bank|operator|administrator|directory)(?= |$)/.exec(actor)?.[0];
  if (authentication !== undefined && authentication.clientId !== actor) {
    return `${actor}, but another authenticated`;
  }
  return known ?? "participant";
}

function provenBy({ authentication }: AuditEntry): string {
  if (authentication === undefined) return "";
  const { method, target, ...rest } = authentication;
  const path = new URL(target).pathname.split("/").slice(1)
    .map((part) => /^[0-9A-Z]+$|[0-9a-f]{8}-/.test(part) ? "*" : part).join("/");
  return `, ${method} ${path} with ${Object.keys(rest).sort().join(", ")}`;
}

/** Numbers without a gap, and each entry with the hash of the one before it. */
function chainFaults(subject: string, history: readonly AuditEntry[]): readonly string[] {
  const kept = new Set<string>();
  return history.flatMap((entry, index) => {
    const before = history[index - 1];
    const previous = before === undefined ? undefined : hashText(leafHash(subject, before));
    const where = `${subject} ${index + 1} ${entry.event}`;
    for (const place of entry.deleted ?? []) kept.delete(place);
    const isLeft = entry.event.endsWith("_deleted") && kept.size > 0;
    for (const { kind } of entry.items ?? []) kept.add(evidencePlace(subject, index + 1, kind));
    return [
      ...(entry.sequence === index + 1 ? [] : [`${where} has the number ${entry.sequence}`]),
      ...(entry.previous === previous ? [] : [`${where} does not name the entry before it`]),
      ...(isLeft ? [`${where} has left evidence`] : []),
      ...(entry.salt.length === SALT_CHARACTERS ? [] : [`${where} has no salt of 16 bytes`]),
    ];
  });
}

/** 16 bytes, base64url. */
const SALT_CHARACTERS = 22;

/** Each piece of evidence is there with its digest, signature and documents, unless a later entry deleted it. */
async function bodyFaults(
  store: Store,
  subject: string,
  history: readonly AuditEntry[],
): Promise<readonly string[]> {
  const deleted = new Set(history.flatMap((entry) => entry.deleted ?? []));
  const named = history.flatMap(({ documents = [], items = [] }) => [
    ...documents.map(({ sha256 }) => sha256),
    ...items.flatMap(({ key }) => key ?? []),
  ]);
  const faults: string[] = [];
  for (const sha256 of new Set(named)) {
    if (await documentAt(store, sha256) === null) faults.push(`the document ${sha256} is not stored`);
  }
  const items = (await placedHistoryOf(store, subject)).flatMap((placed) =>
    piecesOf(placed).map((piece, index) => ({ piece, item: placed.entry.items?.[index] }))
  );
  for (const { piece, item: { kind = "", sha256 = "" } = {} } of items.slice(0, MAX_BODIES)) {
    const [body, { place }] = [await bodyOf(store, piece), piece];
    if (body === "lost" || body === null && deleted.has(place)) continue;
    if (body === null) faults.push(`${place} is not stored`);
    else if (bodyDigest(body) !== sha256) faults.push(`${place} has another digest`);
    else if ((body.signature !== undefined) !== DETACHED.has(kind)) faults.push(`${place}: its signature`);
  }
  return faults;
}

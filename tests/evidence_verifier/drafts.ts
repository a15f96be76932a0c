/**
 * What the holder of the platform's key can write: a bundle with its platform's pieces opened, and everything that covers
 * them made anew. Of the TPP and the bank it has no key.
 */
import { decodeJwt, decodeProtectedHeader } from "jose";
import { signBytes } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { isComplete } from "support/part_of.ts";
import { vouchFor } from "./answered_once.ts";
import {
  canonicalForm,
  fromBase64Url,
  listOf,
  membersOf,
  sha256,
  sha256Text,
  toBase64Url,
} from "./encoding.ts";

/** A JSON value that is changed in its place. */
export type Node = null | boolean | number | string | Node[] | { [name: string]: Node };
export type Branch = { [name: string]: Node };

/** A JWS of the platform, opened. */
export type Opened = { header: Branch; claims: Branch };

export type DraftEntry = {
  record: Branch;
  position: Node;
  /** Bytes and signature as they are, or `content` of what nobody signs, or `jws` of what the platform signs. */
  bodies: Node[];
  index: Node;
  proof: Node;
};

/** A forger may leave out each member. */
export type Draft = {
  entries: DraftEntry[];
  checkpoint: Opened;
  statement: Opened;
  [name: string]: unknown;
};

const encoder = new TextEncoder();
const branch = (value: unknown): Branch => membersOf(value) as Branch;

function opened(jws: string): Opened {
  return { header: branch(decodeProtectedHeader(jws)), claims: branch(decodeJwt(jws)) };
}

function openBody(kind: string, body: unknown): Node {
  if (body === null) return null;
  const { bytes, ...rest } = branch(body);
  const text = new TextDecoder().decode(fromBase64Url(String(bytes)));
  if (kind === "handover" || kind === "order") return { ...rest, jws: opened(text) };
  if (kind === "pushed_request") return { ...rest, form: Object.fromEntries(new URLSearchParams(text)) };
  if (["decision", "order_response", "retention"].includes(kind)) {
    return { ...rest, content: JSON.parse(text) as Node };
  }
  return { bytes: bytes ?? "", ...rest };
}

export function openDraft(text: string): Draft {
  const { entry: only, ...bundle } = JSON.parse(text) as Draft & {
    readonly checkpoint: string;
    readonly statement: string;
    readonly entry?: DraftEntry;
  };
  return {
    ...bundle,
    entries: (only === undefined ? bundle.entries : [only]).map((entry) => ({
      ...entry,
      bodies: entry.bodies.map((body, at) =>
        openBody(String(membersOf(listOf(entry.record["items"])[at])["kind"]), body)
      ),
    })),
    checkpoint: opened(bundle.checkpoint),
    statement: opened(bundle.statement),
  };
}

const signatures = new Map<string, Promise<string>>();
/** The gate makes one of so many signatures, and vouches for the others. */
const MADE = 20;

/** Signs with the platform's key. What was signed before is signed once. */
async function sign({ header, claims }: Partial<Opened>): Promise<string> {
  const payload = JSON.stringify(claims ?? {});
  const { alg: _, ...rest } = header ?? {};
  const name = JSON.stringify(rest) + payload;
  const key = await testKey(12);
  const isMade = isComplete || signatures.size % MADE === 0;
  const made = signatures.get(name) ??
    (isMade
      ? signBytes(key, encoder.encode(payload), rest)
      : Promise.resolve(vouchedJws(key.publicJwk.n, JSON.stringify({ alg: "PS256", ...rest }), payload)));
  signatures.set(name, made);
  return await made;
}

function vouchedJws(modulus: string, header: string, payload: string): string {
  const signed = [header, payload].map((part) => toBase64Url(encoder.encode(part))).join(".");
  return `${signed}.${toBase64Url(vouchFor(modulus, signed))}`;
}

async function closeBody(body: Node): Promise<Node> {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return body;
  const { jws, form, content, ...rest } = body;
  let text: string | undefined;
  if (jws !== undefined) {
    const { header, claims } = branch(jws);
    text = await sign({ header: branch(header), claims: branch(claims) });
  }
  if (form !== undefined) text = `${new URLSearchParams(branch(form) as Record<string, string>)}`;
  if (content !== undefined) text = canonicalForm(content);
  return text === undefined ? rest : { ...rest, bytes: toBase64Url(encoder.encode(text)) };
}

/** What is made anew, from the evidence outwards. */
export const LAYERS = ["digests", "chain", "log", "statement", "signature"] as const;
export type Layer = (typeof LAYERS)[number];

function digest(entry: DraftEntry, bodies: readonly Node[]): void {
  const { record } = entry;
  for (const [at, item] of listOf(record["items"]).entries()) {
    const { bytes, salt, signature } = branch(bodies[at]);
    if (typeof bytes !== "string" || typeof salt !== "string") continue;
    branch(item)["sha256"] = sha256Text(
      fromBase64Url(salt) ?? "",
      sha256(fromBase64Url(bytes) ?? ""),
      sha256(String(signature ?? "")),
    );
    const shown = branch(branch(entry.bodies[at])["content"])["page"];
    if (shown !== undefined && record["page"]) {
      branch(record["page"])["sha256"] = sha256Text(canonicalForm(shown));
    }
  }
}

function leafOf(record: Branch): Uint8Array {
  return sha256(new Uint8Array([0]), canonicalForm(record));
}

function chain(entries: readonly DraftEntry[]): void {
  const newest = new Map<Node | undefined, string>();
  for (const { record } of entries) {
    const previous = newest.get(record["subject"]);
    if (previous === undefined) delete record["previous"];
    else record["previous"] = previous;
    newest.set(record["subject"], toBase64Url(leafOf(record)));
  }
}

/** Returns the root of the leaves and the proof of each (RFC 9162 §2.1). */
function treeOf(
  leaves: readonly Uint8Array[],
): { readonly root: Uint8Array; readonly proofs: readonly string[][] } {
  const [only] = leaves;
  if (only === undefined) return { root: sha256(""), proofs: [] };
  if (leaves.length === 1) return { root: only, proofs: [[]] };
  const half = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  const [left, right] = [treeOf(leaves.slice(0, half)), treeOf(leaves.slice(half))];
  return {
    root: sha256(new Uint8Array([1]), left.root, right.root),
    proofs: [
      ...left.proofs.map((proof) => [...proof, toBase64Url(right.root)]),
      ...right.proofs.map((proof) => [...proof, toBase64Url(left.root)]),
    ],
  };
}

function place({ entries, checkpoint }: Draft): void {
  const { root, proofs } = treeOf(entries.map(({ record }) => leafOf(record)));
  for (const [at, entry] of entries.entries()) Object.assign(entry, { index: at, proof: proofs[at] ?? [] });
  Object.assign(checkpoint.claims, { size: entries.length, root: toBase64Url(root) });
}

/** A bundle has a list of entries, the proof of a deletion has one entry. */
export type Shape = "entries" | "entry";

export function shapeOf(text: string): Shape {
  return "entry" in branch(JSON.parse(text)) ? "entry" : "entries";
}

/** Makes the bundle of a draft. What lies inside of `from` stays as the draft has it. */
export async function closeDraft(
  draft: Draft,
  from: Layer = "digests",
  shape: Shape = "entries",
): Promise<string> {
  const isWhole = [
    draft.entries,
    draft.checkpoint?.claims,
    ...draft.entries?.map(({ record }) => record) ?? [],
  ]
    .every((part) => part !== undefined);
  const first = isWhole ? LAYERS.indexOf(from) : LAYERS.indexOf("statement");
  const made = (layer: Layer): boolean => LAYERS.indexOf(layer) >= first;
  const bodies = await Promise.all(
    (draft.entries ?? []).map(({ bodies = [] }) => Promise.all(bodies.map(closeBody))),
  );
  if (made("digests")) { for (const [at, entry] of draft.entries.entries()) digest(entry, bodies[at] ?? []); }
  if (made("chain")) chain(draft.entries);
  if (made("log")) place(draft);
  const { statement, checkpoint, entries, ...rest } = draft;
  const closed = entries?.map((entry, at) => ({
    ...entry,
    ...(entry.bodies && { bodies: bodies[at] ?? [] }),
  }));
  const signed = {
    ...rest,
    ...(closed && { [shape]: shape === "entry" ? closed[0] : closed }),
    ...(checkpoint && { checkpoint: await sign(checkpoint) }),
  };
  if (made("statement") && statement?.claims) {
    statement.claims["bundle_sha256"] = sha256Text(canonicalForm(signed));
  }
  return `${canonicalForm({ ...signed, ...(statement && { statement: await sign(statement) }) })}\n`;
}

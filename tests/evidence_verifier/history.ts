/** Steps 4, 5 and 8: the order of the entries, and their places in the log. */
import { type Case, nameOf, piecesOf } from "./case.ts";
import { canonicalForm, fromBase64Url, membersOf, sha256, sha256Text, toBase64Url } from "./encoding.ts";
import type { Entry } from "./form.ts";

function leafOf(record: Entry): Uint8Array<ArrayBuffer> {
  return sha256(new Uint8Array([0]), canonicalForm(record));
}

/** The first 16 octets of SHA-256, as a version 8 UUID. */
function paymentOf(consent: string): string {
  const octets = (sha256(`domestic payment of consent ${consent}`)).slice(0, 16);
  octets.set([(octets[6] ?? 0) % 16 + 0x80], 6);
  octets.set([(octets[8] ?? 0) % 64 + 0x80], 8);
  const hex = octets.toHex();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function* orderFaults(facts: Case): Generator<string> {
  const { bundle, consent, payment, statement } = facts;
  const newest = new Map<string, { readonly record: Entry; readonly position: number }>();
  let before = 0;
  for (const { record, position } of bundle.entries) {
    if (record.subject !== consent && record.subject !== payment) {
      yield `${nameOf(record)} is of another case`;
    }
    const last = newest.get(record.subject);
    if (position < before || last && position <= last.position) yield `${nameOf(record)} is out of order`;
    if (record.sequence !== (last?.record.sequence ?? 0) + 1) yield `no entry before ${nameOf(record)}`;
    const previous = last && toBase64Url(leafOf(last.record));
    if (record.previous !== previous) yield `${nameOf(record)} follows another entry`;
    newest.set(record.subject, { record, position });
    before = position;
  }
  if (payment !== paymentOf(consent)) yield "the payment does not follow from the consent";
  const counts = [[consent, "consent_entries"], [payment, "payment_entries"]] as const;
  for (const [subject, claim] of counts) {
    if ((newest.get(subject)?.record.sequence ?? 0) !== statement[claim]) yield `other ${claim} than stated`;
  }
}

/** RFC 9162 §2.1.3.2. */
function isIncluded(
  leaf: Uint8Array<ArrayBuffer>,
  index: number,
  proof: readonly string[],
  tree: { readonly size: number; readonly root: string },
): boolean {
  if (index >= tree.size) return false;
  let [node, last, hash] = [index, tree.size - 1, leaf];
  for (const text of proof) {
    const sibling = fromBase64Url(text);
    if (last === 0 || !sibling) return false;
    const isRight = node % 2 === 1 || node === last;
    hash = isRight ? sha256(new Uint8Array([1]), sibling, hash) : sha256(new Uint8Array([1]), hash, sibling);
    while (isRight && node % 2 === 0 && node !== 0) {
      [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && toBase64Url(hash) === tree.root;
}

export function* logFaults(
  { bundle }: Case,
  tree: { readonly size: number; readonly root: string },
): Generator<string> {
  for (const { record, index, proof, bodies } of bundle.entries) {
    if (!isIncluded(leafOf(record), index, proof, tree)) {
      yield `${nameOf(record)} is not in the log`;
    }
    if (bodies.length !== (record.items ?? []).length) yield `${nameOf(record)} has not a body for each item`;
  }
}

export function* pageFaults(facts: Case): Generator<string> {
  for (const { entry, content } of piecesOf(facts, "decision")) {
    if (entry.page?.language !== membersOf(membersOf(content)["page"])["language"]) {
      yield `the page of ${nameOf(entry)} has another language`;
    }
    const shown = sha256Text(canonicalForm(membersOf(content)["page"] ?? null));
    if (entry.page?.sha256 !== shown) yield `the page of ${nameOf(entry)} is another`;
  }
}

/** Steps 4, 5 and 8: the order of the entries, and their places in the log. */
import { type Case, nameOf, piecesOf } from "./case.ts";
import { canonicalForm, fromBase64Url, membersOf, sha256, sha256Text, toBase64Url } from "./encoding.ts";
import type { Entry } from "./form.ts";

function leafOf(record: Entry): Uint8Array<ArrayBuffer> {
  return sha256(new Uint8Array([0]), canonicalForm(record));
}

/** The first 6 octets of the consent's id and the next 10 of SHA-256, as a version 8 UUID. */
function paymentOf(consent: string): string {
  const octets = (sha256(`domestic payment of consent ${consent}`)).slice(0, 16);
  octets.set([(octets[6] ?? 0) % 16 + 0x80], 6);
  octets.set([(octets[8] ?? 0) % 64 + 0x80], 8);
  const hex = octets.toHex();
  return [consent.slice(0, 8), consent.slice(9, 13), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .join("-");
}

type Placed = NonNullable<Case["bundle"]["withheld"]>[number] & { readonly record?: Entry };

/** Each entry with its leaf, in the order of the positions. Without withheld ones, the order of the file counts. */
function placedIn({ entries, withheld = [] }: Case["bundle"]): readonly Placed[] {
  const shown = entries.map(({ record, ...place }): Placed => {
    const { subject, sequence } = record;
    return { ...place, record, subject, sequence, leaf: toBase64Url(leafOf(record)) };
  });
  const sorted = [...shown, ...withheld].toSorted((one, other) => one.position - other.position);
  return withheld.length === 0 ? shown : sorted;
}

export function* orderFaults(facts: Case): Generator<string> {
  const { bundle, consent, payment, statement } = facts;
  const newest = new Map<
    string,
    { readonly sequence: number; readonly position: number; readonly leaf: string }
  >();
  let before = 0;
  for (const { subject, sequence, position, leaf, record } of placedIn(bundle)) {
    const name = `entry ${sequence} of ${subject}`;
    if (subject !== consent && subject !== payment) yield `${name} is of another case`;
    const last = newest.get(subject);
    if (position < before || last && position <= last.position) yield `${name} is out of order`;
    if (sequence !== (last?.sequence ?? 0) + 1) yield `no entry before ${name}`;
    if (record && record.previous !== last?.leaf) yield `${name} follows another entry`;
    newest.set(subject, { sequence, position, leaf });
    before = position;
  }
  if (payment !== paymentOf(consent)) yield "the payment does not follow from the consent";
  const counts = [[consent, "consent_entries"], [payment, "payment_entries"]] as const;
  for (const [subject, claim] of counts) {
    if ((newest.get(subject)?.sequence ?? 0) !== statement[claim]) yield `other ${claim} than stated`;
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
  for (const { leaf, subject, sequence, index, proof } of placedIn(bundle)) {
    if (!isIncluded(fromBase64Url(leaf) ?? new Uint8Array(), index, proof, tree)) {
      yield `entry ${sequence} of ${subject} is not in the log`;
    }
  }
  for (const { record, bodies } of bundle.entries) {
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

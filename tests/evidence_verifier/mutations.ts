/** Every member of a draft removed, changed and swapped with that of another case; every entry of a list dropped, doubled and moved. */
import { membersOf } from "./encoding.ts";
import type { Branch, Draft, Layer, Node } from "./drafts.ts";

export type Path = readonly (string | number)[];

export interface Mutation {
  /** What is done, for the table of results. */
  readonly kind: string;
  readonly path: Path;
  /** Where the forger starts to make anew. */
  readonly from: Layer;
  readonly apply: (draft: Draft) => void | Promise<void>;
}

/** Members that the forger makes anew, and the layer above each. */
const DERIVED: readonly (readonly [RegExp, Layer])[] = [
  [/^entries\.\d+\.record\.(items\.\d+\.sha256|page\.sha256)$/, "chain"],
  [/^entries\.\d+\.record\.previous$/, "log"],
  [/^(entries\.\d+\.(index|proof(\.\d+)?)|checkpoint\.claims\.(size|root))$/, "statement"],
  [/^statement\.claims\.bundle_sha256$/, "signature"],
];

export function layerOf(path: Path): Layer {
  const name = path.join(".");
  return DERIVED.find(([pattern]) => pattern.test(name))?.[1] ?? "digests";
}

export function nodeAt(root: unknown, path: Path): Node | undefined {
  return path.reduce(
    (node: unknown, step) => Array.isArray(node) ? node[Number(step)] : membersOf(node)[step],
    root,
  ) as Node | undefined;
}

function setAt(root: unknown, path: Path, value: Node): void {
  (nodeAt(root, path.slice(0, -1)) as Branch)[String(path.at(-1))] = value;
}

function removeAt(root: unknown, path: Path): void {
  const [parent, last] = [nodeAt(root, path.slice(0, -1)), path.at(-1)];
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Branch)[String(last)];
}

/** All paths below the root. */
export function* pathsOf(node: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(node)) {
    for (const [at, member] of node.entries()) yield* pathsOf(member, [...path, at]);
  } else {for (const [name, member] of Object.entries(membersOf(node))) {
      yield* pathsOf(member, [...path, name]);
    }}
}

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** Another value of the same type and form. */
export function other(value: Node): Node {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return "null";
  if (Array.isArray(value)) return [];
  if (typeof value === "object") return {};
  if (UUID.test(value)) return value.replace(/^./, (digit) => digit === "f" ? "0" : "f");
  if (/^[\w-]{20,}$/.test(value)) return value.replace(/^./, (letter) => letter === "A" ? "B" : "A");
  if (/^\d+\.\d\d$/.test(value)) return `1${value}`;
  if (value.split(".").length === 3 && value.length > 200) return value.replace(/.{8}$/, "AAAAAAAA");
  return `${value}x`;
}

export function replaceEverywhere(root: unknown, from: string, to: string): void {
  for (const path of [...pathsOf(root)]) {
    const value = nodeAt(root, path);
    if (typeof value === "string" && value.includes(from)) setAt(root, path, value.replaceAll(from, to));
  }
}

function* ofMember(draft: Draft, second: Draft, path: Path): Generator<Mutation> {
  const [value, from] = [nodeAt(draft, path), layerOf(path)];
  if (value === undefined) return;
  yield { kind: "removed", path, from, apply: (forged) => removeAt(forged, path) };
  if (typeof value !== "object" || value === null) {
    yield { kind: "changed", path, from, apply: (forged) => setAt(forged, path, other(value)) };
  }
  const theirs = nodeAt(second, path);
  if (theirs !== undefined && JSON.stringify(theirs) !== JSON.stringify(value)) {
    yield { kind: "swapped", path, from, apply: (forged) => setAt(forged, path, structuredClone(theirs)) };
  }
}

/** Entries of a list, dropped by `ofMember`. */
function* ofEntry(draft: Draft, path: Path): Generator<Mutation> {
  const [list, at] = [nodeAt(draft, path.slice(0, -1)), Number(path.at(-1))];
  if (!Array.isArray(list)) return;
  const from = layerOf(path);
  const inList = (change: (list: Node[]) => void): (forged: Draft) => void => (forged) => {
    const found = nodeAt(forged, path.slice(0, -1));
    if (Array.isArray(found)) change(found);
  };
  yield {
    kind: "doubled",
    path,
    from,
    apply: inList((found) => found.splice(at, 0, structuredClone(found[at] ?? null))),
  };
  if (at + 1 < list.length) {
    yield {
      kind: "moved",
      path,
      from,
      apply: inList((found) => found.splice(at, 2, found[at + 1] ?? null, found[at] ?? null)),
    };
  }
}

/** Gives the entries of each history their numbers again, as if nothing was left out or put in. */
function renumber({ entries, statement }: Draft): void {
  const counts = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    const subject = String(entry.record["subject"]);
    counts.set(subject, (counts.get(subject) ?? 0) + 1);
    entry.record["sequence"] = counts.get(subject) ?? 0;
    entry.position = at;
  }
  const { claims } = statement;
  claims["consent_entries"] = counts.get(String(claims["consent"])) ?? 0;
  claims["payment_entries"] = counts.get(String(claims["payment"])) ?? 0;
}

/** Yields every mutation of a draft; `second` is the other genuine case of its kind. */
export function* mutationsOf(draft: Draft, second: Draft): Generator<Mutation> {
  const strings = new Map<string, Path>();
  for (const path of pathsOf(draft)) {
    if (path.slice(-2).join(".") === "header.alg") continue; // the key signs with no other
    yield* ofMember(draft, second, path);
    yield* ofEntry(draft, path);
    const value = nodeAt(draft, path);
    const isWritten = typeof value === "string" && value.length >= 3 && value.length < 200;
    if (isWritten && layerOf(path) === "digests" && !strings.has(value)) strings.set(value, path);
    if (path.length === 2 && path[0] === "entries") {
      for (const { kind, apply, from } of [...ofMember(draft, second, path), ...ofEntry(draft, path)]) {
        yield {
          kind: "renumbered",
          path: [...path, kind],
          from,
          apply: async (forged) => {
            await apply(forged);
            renumber(forged);
          },
        };
      }
    }
  }
  for (const [value, path] of strings) {
    const to = String(other(value));
    const apply = (forged: Draft): void => replaceEverywhere(forged, value, to);
    yield { kind: "changed everywhere", path, from: "digests", apply };
  }
}

/** The evidence log as its records have it, recomputed from its leaves, for tests and the simulation. */
import { decodeJwt } from "jose";
import { hashText, treeHead } from "../../src/base/merkle/tree.ts";
import { logWaitingRecord } from "../../src/base/store/base_records.ts";
import type { Entry, Key, Store } from "../../src/base/store/store.ts";
import { openLogStore } from "../../src/platform/evidence/evidence_log/log_store.ts";
import { TILE } from "../../src/platform/evidence/evidence_log/tiles.ts";

/** The log as a store has it. */
export interface LogBooks {
  /** Leaf hashes in the order of their places, base64url. */
  readonly leaves: readonly string[];
  /** The second of the entries that a leaf hash is listed under, milliseconds. */
  readonly seconds: ReadonlyMap<string, number>;
  /** Leaf hashes without a place. */
  readonly waiting: readonly string[];
  /** The newest checkpoint's claims, not verified. */
  readonly checkpoint:
    | { readonly size: number; readonly root: string; readonly [name: string]: unknown }
    | null;
  /** Contradictions, a sentence each. */
  readonly faults: readonly string[];
}

/** Reads the whole log, and compares tiles, places and the checkpoint with each other. */
export async function readLogBooks(store: Store): Promise<LogBooks> {
  const log = openLogStore(store);
  const head = await log.head();
  const size = head?.value.size ?? 0;
  const places = Array.from({ length: Math.ceil(size / TILE) }, (_, index) => ({ level: 0, index }));
  const hashes = (await log.tiles(places)).flat();
  const leaves = hashes.map(hashText);
  const ranges = (await all(store, ["log_range"])).map(({ key, value }) => ({
    second: Number(key[1]),
    start: Number(key[2]),
    end: endIn(value),
  })).toSorted((one, other) => one.start - other.start);
  const seconds = new Map(
    ranges.flatMap(({ second, start, end }) =>
      leaves.slice(start, end).map((leaf) => [leaf, second] as const)
    ),
  );
  const waiting = (await all(store, [logWaitingRecord.name])).map(logWaitingRecord.decode)
    .flatMap(({ value }) => value.leaves.map(({ leaf }) => leaf));
  const jwt = head?.value.checkpoint;
  const checkpoint = jwt === undefined ? null : decodeJwt<{ size: number; root: string }>(jwt);
  const faults = [
    ...(leaves.length === size ? [] : [`${leaves.length} leaves in tiles, ${size} in the head`]),
    ...[...ranges, { start: size }].flatMap(({ start }, at) =>
      start === (ranges[at - 1]?.end ?? 0) ? [] : [`places before ${start} are listed twice or not at all`]
    ),
    ...(seconds.size === size ? [] : [`${seconds.size} different leaves in ${size} places`]),
    ...waiting.flatMap((leaf) => seconds.has(leaf) ? [`${leaf} waits and has a place`] : []),
    ...(checkpoint === null || checkpoint.size === size ? [] : ["the checkpoint has another size"]),
    ...(checkpoint === null || checkpoint.root === hashText(treeHead(hashes))
      ? []
      : ["the checkpoint has another root than its leaves"]),
  ];
  return { leaves, seconds, waiting, checkpoint, faults };
}

/** A leaf hash, base64url, and the time that it was staged with, milliseconds. */
export interface StagedLeaf {
  readonly leaf: string;
  readonly at: number;
}

/** Returns the faults of a log in which exactly these leaf hashes must be or wait for their place. */
export function missingOrForeign(
  { leaves, seconds, waiting }: LogBooks,
  expected: readonly StagedLeaf[],
): readonly string[] {
  const found = [...leaves, ...waiting];
  const [known, seen] = [new Set(expected.map(({ leaf }) => leaf)), new Set(found)];
  return [
    ...expected.filter(({ leaf }) => !seen.has(leaf)).map(({ leaf }) => `${leaf} is not in the log`),
    ...expected.flatMap(({ leaf, at }) => {
      const second = at - at % 1000;
      return (seconds.get(leaf) ?? second) === second ? [] : [`${leaf} is listed under another second`];
    }),
    ...found.filter((leaf) => !known.has(leaf)).map((leaf) => `${leaf} stands for no entry`),
    ...(found.length === seen.size ? [] : ["a leaf is in the log twice"]),
  ];
}

async function all(store: Store, prefix: Key): Promise<readonly Entry<unknown>[]> {
  const found: Entry<unknown>[] = [];
  while (true) {
    const after = found.at(-1)?.key;
    const page = await store.list({ prefix, limit: 500, ...(after === undefined ? {} : { after }) });
    found.push(...page);
    if (page.length < 500) return found;
  }
}

function endIn(value: unknown): number {
  return typeof value === "object" && value !== null ? Number(Reflect.get(value, "end")) : NaN;
}

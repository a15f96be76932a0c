/**
 * Gives waiting leaf hashes their places in the evidence log and signs a checkpoint (contract EV3, EV4). Every process
 * does so once a second. The version of the log's head lets one of them commit, and the others find the work done.
 */
import type { OwnKey } from "../../../base/jose/own_key.ts";
import type { Entry } from "../../../base/store/store.ts";
import { commitIfUnchanged, type TransactDeps } from "../../../base/store/transaction.ts";
import { type LogOrigin, signCheckpoint } from "./checkpoint.ts";
import type { LogHead } from "./log_records.ts";
import type { LogStore, WaitingLeaves } from "./log_store.ts";
import { appendLeaves, type Edge, edgeOf, rootOf } from "./tiles.ts";

export interface GrowLogDeps extends TransactDeps {
  readonly log: LogStore;
  readonly origin: LogOrigin;
  readonly signer: OwnKey;
}

/** Largest number of mutations for rows and ranges in one commit. Deno KV takes 1000, with tiles, head and checkpoint. */
const MUTATIONS = 900;
/** Bounds a pass. The next one starts a second later. */
const MAX_BATCHES = 20;
/** A younger head was written by another process in this second. It leaves its work to be collected. */
const COLLECT_MS = 900;

/**
 * Places the leaf hashes that wait, oldest first, up to a limit. They are always read from the beginning, because a
 * commit of another process can become visible late or have an earlier time.
 *
 * @returns the number of leaf hashes that this process has placed
 */
export async function growLog(deps: GrowLogDeps): Promise<number> {
  let placed = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const head = await deps.log.head(); // first: its version then excludes that any of these got a place meanwhile
    const waiting = await deps.log.waiting(MUTATIONS);
    const isDue = waiting.leaves.length > 0 && (batch > 0 || !isYoung(head, deps));
    if (!isDue && !needsKey(head, deps)) break;
    if (!await place(deps, head, waiting)) break; // another process has
    placed += waiting.leaves.length;
    if (waiting.areAll) break;
  }
  return placed;
}

/** A published key signs the newest checkpoint, also if the log does not grow. */
function needsKey(head: Entry<LogHead> | null, { signer }: GrowLogDeps): boolean {
  return head !== null && head.value.kid !== signer.kid;
}

function isYoung(head: Entry<LogHead> | null, { clock }: GrowLogDeps): boolean {
  const age = clock() - (head?.value.at ?? -Infinity);
  return age >= 0 && age < COLLECT_MS;
}

async function place(
  deps: GrowLogDeps,
  former: Entry<LogHead> | null,
  waiting: WaitingLeaves,
): Promise<boolean> {
  const { kid, key } = deps.signer;
  const size = former?.value.size ?? 0;
  const leaves = waiting.leaves.map(({ leaf }) => Uint8Array.fromBase64(leaf, { alphabet: "base64url" }));
  const grown = appendLeaves(size, await edgeAt(deps.log, size), leaves);
  const { checkpoint: _, ...before } = former?.value ?? {};
  const head = { ...before, size: size + leaves.length, at: deps.clock(), kid };
  const checkpoint = await signCheckpoint(deps.origin, { ...head, root: rootOf(grown.edge) }, { kid, key });
  return await commitIfUnchanged(
    deps,
    (tx) =>
      deps.log.stageGrowth(tx, former, {
        head: { ...head, checkpoint },
        placed: waiting,
        tiles: grown.tiles,
      }),
  );
}

/** Reads the unfinished tiles of the log. They belong to this size, or the commit fails on the head's version. */
async function edgeAt(log: LogStore, size: number): Promise<Edge> {
  const places = edgeOf(size);
  const found = await log.tiles(places.filter((place) => place !== undefined));
  let next = 0;
  return places.map((place) => place === undefined ? [] : found[next++] ?? []);
}

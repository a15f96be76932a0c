/** Compares a checkpoint of the evidence log with those that this witness saw. No I/O. */
import { type Hash, isSameHash } from "../../../src/base/merkle/tree.ts";
import { provesConsistency } from "../../../src/base/merkle/verify.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** The result of a comparison: whether the log is as it was signed, and a sentence. */
export interface Testimony {
  readonly holds: boolean;
  readonly words: string;
}

/** Fetches the consistency proof between two sizes, or undefined if the log does not have them. */
type Prove = (from: number, to: number) => Promise<readonly Hash[] | undefined>;

/**
 * Compares a checkpoint with those that this witness has accepted.
 *
 * @param kept in the order in which they were accepted
 */
export async function compareCheckpoints(
  kept: readonly Checkpoint[],
  next: Checkpoint,
  prove: Prove,
): Promise<Testimony> {
  const seen = kept.at(-1);
  if (seen === undefined) return { holds: true, words: `first checkpoint: ${next.size} leaves` };
  if (seen.iss !== next.iss || seen.cell !== next.cell) {
    return fault("the checkpoints are of two different logs");
  }
  if (seen.size === 0) {
    return { holds: true, words: `the log has ${next.size} leaves; the last checkpoint had none` };
  }
  if (next.size === seen.size && isSameHash(next.root, seen.root)) {
    return { holds: true, words: `the log is unchanged since ${timeOf(next.iat)}: ${next.size} leaves` };
  }
  const [from, to] = [seen.size, next.size];
  if (await contains(seen, next, prove)) {
    return { holds: true, words: `the log grew from ${from} to ${to} leaves and contains all ${from}` };
  }
  const fork = declaredFork(kept, seen, next);
  if (fork === undefined) {
    return fault(`the log of ${to} leaves does not contain the ${from} leaves that were signed before`);
  }
  const before = newestBefore(kept, next);
  if (before === undefined || await contains(before, next, prove)) return copiedLater(kept, next) ?? fork;
  return fault(
    `the log declares a restore from a copy with ${next.restored?.size} leaves, and does not contain the ` +
      `${before.size} leaves that were signed before the copy was taken`,
  );
}

async function contains(seen: Checkpoint, next: Checkpoint, prove: Prove): Promise<boolean> {
  const [from, to] = [seen.size, next.size];
  if (from === to) return isSameHash(seen.root, next.root);
  const proof = from < to ? await prove(from, to) : undefined;
  return proof !== undefined &&
    provesConsistency({ from, to, fromRoot: seen.root, toRoot: next.root, proof });
}

/** Returns the newest checkpoint of which a declared restore has cut nothing off, considering earlier restores too. */
function newestBefore(kept: readonly Checkpoint[], next: Checkpoint): Checkpoint | undefined {
  let later = next;
  let common = Infinity;
  for (const checkpoint of kept.toReversed()) {
    if (later.restored !== undefined && later.restored.epoch !== checkpoint.restored?.epoch) {
      common = Math.min(common, later.restored.size);
    }
    if (checkpoint.size > 0 && checkpoint.size <= common) return checkpoint;
    later = checkpoint;
  }
  return undefined;
}

/**
 * A log that went on from a restored copy contradicts what was signed after the copy, and declares it (EV6). A restore
 * that it declared before, and that the auditor may have acknowledged, declares no other one.
 */
function declaredFork(
  kept: readonly Checkpoint[],
  seen: Checkpoint,
  { restored }: Checkpoint,
): Testimony | undefined {
  if (restored === undefined || restored.size > seen.size) return undefined;
  if (kept.some((one) => one.restored?.epoch === restored.epoch)) return undefined;
  const [at, copy] = [restored.at, restored.copy_taken_at].map(timeOf);
  const words =
    `the log declares a restore at ${at} from a copy of ${copy}: it goes on from ${restored.size} leaves, ` +
    `and ${seen.size - restored.size} leaves that were signed before are not in it`;
  return { holds: true, words };
}

/** A copy that was taken after a checkpoint contains all of its leaves (EV8). */
function copiedLater(kept: readonly Checkpoint[], { restored }: Checkpoint): Testimony | undefined {
  if (restored === undefined) return undefined;
  const epochs = kept.map((checkpoint) => checkpoint.restored?.epoch);
  const current = epochs.at(-1); // what an earlier restore has cut off is not in later copies
  const found = kept.findLast(({ iat, size }, at) =>
    epochs[at] === current && iat < restored.copy_taken_at && size > restored.size
  );
  return found && fault(
    `the log declares a restore from a copy of ${
      timeOf(restored.copy_taken_at)
    } with ${restored.size} leaves, and ` +
      `had signed ${found.size} leaves before, at ${timeOf(found.iat)}`,
  );
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function fault(words: string): Testimony {
  return { holds: false, words };
}

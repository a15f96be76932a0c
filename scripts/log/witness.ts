/** Compares a checkpoint of the evidence log with the last one that this witness saw. No I/O. */
import { type Hash, isSameHash } from "../../src/base/merkle/tree.ts";
import { provesConsistency } from "../../src/base/merkle/verify.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** The result of a comparison: whether the log is as it was signed, and a sentence. */
export interface Testimony {
  readonly holds: boolean;
  readonly words: string;
}

/**
 * Compares two checkpoints.
 *
 * @param prove fetches the consistency proof between two sizes, or undefined if the log does not have them
 */
export async function compareCheckpoints(
  seen: Checkpoint,
  next: Checkpoint,
  prove: (from: number, to: number) => Promise<readonly Hash[] | undefined>,
): Promise<Testimony> {
  if (seen.iss !== next.iss || seen.cell !== next.cell) {
    return fault("the checkpoints are of two different logs");
  }
  if (seen.size === 0) {
    return { holds: true, words: `the log has ${next.size} leaves; the last checkpoint had none` };
  }
  if (next.size === seen.size && isSameHash(next.root, seen.root)) {
    return { holds: true, words: `the log is unchanged: ${next.size} leaves` };
  }
  const [from, to] = [seen.size, next.size];
  const proof = from < to ? await prove(from, to) : undefined;
  if (proof !== undefined && provesConsistency({ from, to, fromRoot: seen.root, toRoot: next.root, proof })) {
    return { holds: true, words: `the log grew from ${from} to ${to} leaves and contains all ${from}` };
  }
  return declaredFork(seen, next) ??
    fault(`the log of ${to} leaves does not contain the ${from} leaves that were signed before`);
}

/** A log that went on from a restored copy contradicts what was signed after the copy, and declares it (EV6). */
function declaredFork(seen: Checkpoint, { restored }: Checkpoint): Testimony | undefined {
  if (restored === undefined || restored.epoch === seen.restored?.epoch || restored.size > seen.size) {
    return undefined;
  }
  const [at, copy] = [restored.at, restored.copy_taken_at].map((seconds) =>
    new Date(seconds * 1000).toISOString()
  );
  const words =
    `the log declares a restore at ${at} from a copy of ${copy}: it goes on from ${restored.size} leaves, ` +
    `and ${seen.size - restored.size} leaves that were signed before are not in it`;
  return { holds: true, words };
}

function fault(words: string): Testimony {
  return { holds: false, words };
}

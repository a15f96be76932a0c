/**
 * The clock that all parts of a sandbox share: this computer's time plus a stored offset, which survives a restart. It
 * is never behind this computer's time, which databases use for expiry and TLS for certificates.
 */
import { z } from "zod";
import { CannotStart } from "./cannot_start.ts";
import { asJson, readIfAny, writePublic } from "./sandbox_files.ts";

/** A clock that can be moved. */
export interface SandboxClock {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Its offset from this computer's clock, milliseconds. */
  readonly aheadMs: () => number;
  /**
   * Sets the clock of all parts. Existing records keep their dates. Returns false and changes no clock if the target is
   * out of range.
   */
  moveTo(now: number): Promise<boolean>;
  /**
   * Advances the clock of all parts by exactly so many milliseconds. Returns false and changes no clock if that is out
   * of range.
   */
  advance(milliseconds: number): Promise<boolean>;
}

/** Certificates of the sandbox last longer. */
const MAX_AHEAD_MS = 366 * 86_400_000;
/** Tolerance for a target of "now", which has passed when it is processed. */
const JUST_NOW_MS = 60_000;

const kept = z.object({ ahead_ms: z.number().min(0).max(MAX_AHEAD_MS) });

/**
 * Opens a sandbox's clock with its stored offset.
 * @throws {CannotStart} if its file is not valid
 */
export async function openSandboxClock(path: string): Promise<SandboxClock> {
  let aheadMs = await readAheadMs(path);
  const now = (): number => Date.now() + aheadMs;
  const keepAhead = async (milliseconds: number): Promise<boolean> => {
    if (!(milliseconds >= -JUST_NOW_MS && milliseconds <= MAX_AHEAD_MS)) return false;
    const moved = Math.max(0, Math.round(milliseconds));
    await writePublic(path, asJson({ ahead_ms: moved }));
    aheadMs = moved;
    return true;
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (ahead: () => number): Promise<boolean> => {
    const turn = last.then(() => keepAhead(ahead()));
    last = turn.catch(() => {});
    return turn;
  };
  return {
    now,
    aheadMs: () => aheadMs,
    moveTo: (wanted) => inTurn(() => wanted - Date.now()),
    advance: (milliseconds) => inTurn(() => aheadMs + milliseconds),
  };
}

async function readAheadMs(path: string): Promise<number> {
  const text = await readIfAny(path);
  if (text === undefined) return 0;
  try {
    return kept.parse(JSON.parse(text)).ahead_ms;
  } catch {
    throw new CannotStart(
      `The file ${path} cannot be read: remove it, and the sandbox is in the present again.`,
    );
  }
}

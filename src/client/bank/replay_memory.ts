/** Stores single-use ids in memory until they expire. */

/** The ids that were used. */
export interface ReplayMemory {
  /** Marks the id as used. Returns true exactly once per id until `untilMs` (Unix milliseconds). */
  readonly useOnce: (id: string, untilMs: number) => boolean | Promise<boolean>;
}

/** Starts empty and drops expired ids when new ones are added. */
export function createReplayMemory(clock: () => number): ReplayMemory {
  const usedUntilMs = new Map<string, number>();
  return {
    useOnce(id, untilMs): boolean {
      const now = clock();
      for (const [known, until] of usedUntilMs) if (until <= now) usedUntilMs.delete(known);
      if (usedUntilMs.has(id)) return false;
      usedUntilMs.set(id, untilMs);
      return true;
    },
  };
}

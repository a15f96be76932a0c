/** Remembers single-use ids until they expire, in memory. */

/** Ids that were seen. */
export interface ReplayMemory {
  /** Marks the id as used. True exactly once per id until `untilMs` (Unix milliseconds). */
  readonly useOnce: (id: string, untilMs: number) => boolean;
}

/** An empty memory; expired ids are dropped as new ones come. */
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

/** Data keys of tests: a store of their own in memory, and a wrapping key that tests know. */
import { openSealed, type Sealed } from "../../src/platform/evidence/data_keys/sealed_store.ts";
import { openWrappingKeys } from "../../src/platform/evidence/data_keys/wrapping_keys.ts";
import type { Store } from "../../src/base/store/store.ts";

export const TEST_WRAPPING_KEYS = `test ${"A".repeat(42)}E=`;

/** Opens a store whose personal data is sealed. */
export async function sealedForTest(store: Store, vault: Store, monotonic: () => number): Promise<Sealed> {
  const wrapping = await openWrappingKeys(TEST_WRAPPING_KEYS);
  return await openSealed({ store, vault, wrapping, monotonic });
}

/** A monotonic clock beside one that tests put back: it counts what the other advances. */
export function forwardOnly(now: () => number): () => number {
  let last = now();
  let elapsed = 0;
  return () => {
    elapsed += Math.max(0, now() - last);
    last = now();
    return elapsed;
  };
}

/** Which entries of a list by time of creation an older one may still overtake (contract LS3). */
import {
  ATTEMPT_WITHIN_MS,
  COMMIT_WITHIN_MS,
  MAX_PROCESS_SKEW_MS,
  type WallTime,
} from "../../../base/kernel/clock.ts";
import { listedPlace } from "../../config/store_keys.ts";

/** An entry may be committed this long after a younger one, because of a slow attempt, a slow commit and another process's clock. */
export const OVERTAKING_MS = ATTEMPT_WITHIN_MS + COMMIT_WITHIN_MS + MAX_PROCESS_SKEW_MS;
/** Before every id of its time: ids are UUIDs, and this is the nil UUID (RFC 9562 §5.9). */
const NIL_ID = "00000000-0000-0000-0000-000000000000";

export interface Settled {
  /** The place before which no entry can appear any more. */
  readonly place: string;
  /** Whether an entry is younger than the settled ones. */
  isBefore(entry: { readonly createdAt: number }): boolean;
}

export function settledBefore(now: WallTime): Settled {
  const settled = now - OVERTAKING_MS;
  return {
    place: listedPlace(Math.max(0, settled), NIL_ID),
    isBefore: ({ createdAt }) => createdAt > settled,
  };
}

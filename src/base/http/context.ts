/** What every request carries, whatever it asks for. Guards add their own variables by their own types. */
import type { Place } from "./fair_lane.ts";
import type { Prefetch } from "../store/prefetch.ts";
import type { ReplayRecords } from "../store/transaction.ts";

/** Who reads an answer decides its form: an OAuth client, a resource client, or a person's browser. */
export type Surface = "oauth" | "resource" | "browser";

/** Variables set before any route runs. */
export interface RequestVariables {
  surface: Surface;
  /** `x-fapi-interaction-id`: the caller's where it is a UUID, else ours. */
  interactionId: string;
  /** Replay records that this request has earned (`base/store/transaction.ts`). */
  replayRecords: ReplayRecords;
  /** What this request has read, or asked for ahead. */
  reads: Prefetch;
  /** Its place among the requests in work (`aside.ts`). */
  place: Place;
}

/** Hono's environment for an app whose routes need nothing else. */
export interface RequestEnv {
  Variables: RequestVariables;
}

/** The variables that every request has. Middleware adds its own variables by its own types. */
import type { RequestFacts } from "./request_facts.ts";
import type { Place } from "./fair_lane.ts";
import type { TraceNotes } from "./request_trace.ts";
import type { RequestReads } from "../store/request_reads.ts";
import type { ReplayRecords } from "../store/transaction.ts";

/**
 * The reader of a response, which decides the response's form: an OAuth client, a resource client, or a person's
 * browser.
 */
export type Surface = "oauth" | "resource" | "browser";

/** Variables set before any route runs. */
export interface RequestVariables {
  surface: Surface;
  /** `x-fapi-interaction-id`: the caller's value if it is a UUID, else a new one. */
  interactionId: string;
  /** The facts about the request that are known so far, for log lines and metrics. */
  facts: RequestFacts;
  /** Details of its trace beyond the facts. */
  trace: TraceNotes;
  /** How many checks of the endpoint have passed. Absent before the first one. */
  passed?: number;
  /** Replay records to be committed with the request's effect (`base/store/transaction.ts`). */
  replayRecords: ReplayRecords;
  /** The entries that this request has read. */
  reads: RequestReads;
  /** The request's place in the admission control (`aside.ts`). */
  place: Place;
}

/** Hono's environment for an app whose routes need no other variables. */
export interface RequestEnv {
  Variables: RequestVariables;
}

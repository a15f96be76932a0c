/** The current request: lets it release its place in the admission control while it waits for another party, and returns what is known of it. */
import { tryGetContext } from "hono/context-storage";
import type { RequestEnv } from "./context.ts";
import type { Place } from "./fair_lane.ts";
import type { RequestFacts } from "./request_facts.ts";
import type { TraceNotes } from "./request_trace.ts";

/** Runs `wait`. Meanwhile the current request has released its place, and it takes one again afterwards. */
export async function aside<T>(wait: () => Promise<T>): Promise<T> {
  const place = currentPlace();
  return await (place === undefined ? wait() : place.aside(wait));
}

/** Returns the place of the current request, or undefined in background work. */
export function currentPlace(): Place | undefined {
  return tryGetContext<RequestEnv>()?.get("place");
}

/** Returns what is known of the current request, or undefined in background work. */
export function currentFacts(): RequestFacts | undefined {
  return tryGetContext<RequestEnv>()?.get("facts");
}

/** Returns the notes for the trace of the current request, or undefined in background work. */
export function currentTrace(): TraceNotes | undefined {
  return tryGetContext<RequestEnv>()?.get("trace");
}

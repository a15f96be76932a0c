/** What a request does while it waits for somebody else: it keeps no place in work from other requests. */
import { tryGetContext } from "hono/context-storage";
import type { RequestEnv } from "./context.ts";
import type { Place } from "./fair_lane.ts";

/** Waits for another party. The request that this code runs for frees its place, and takes one again afterwards. */
export async function aside<T>(wait: () => Promise<T>): Promise<T> {
  const place = currentPlace();
  return await (place === undefined ? wait() : place.aside(wait));
}

/** The place of the request that this code runs for; background work has none. */
export function currentPlace(): Place | undefined {
  return tryGetContext<RequestEnv>()?.get("place");
}

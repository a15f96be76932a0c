/**
 * Single-use markers that no commit of the request took along are spent at its end: a proof that came with a
 * read, or with a request that was refused, is used up all the same (RFC 9449 11.1). A rate-limited request uses up
 * nothing, so that it can be sent again as it is.
 */
import { createMiddleware } from "hono/factory";
import { Refusal } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit, contended } from "../../base/store/transaction.ts";
import type { RequestEnv } from "../../base/http/context.ts";

/** Middleware; the answer of a request whose marker was spent before is the marker's refusal instead. */
export function spendMarkers(
  deps: { readonly store: Store; readonly clock: Clock },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function spend(c, next) {
    await next();
    const markers = c.get("markers");
    // A refusal that a commit threw has become the answer, unless a handler has caught it.
    const hidden = markers.refusal !== undefined && c.error !== markers.refusal;
    if (!hidden && (markers.pending.length === 0 || isRateLimited(c.error))) return;
    const answer = c.res;
    c.res = undefined; // a refusal takes the answer's place as a whole, headers too
    if (hidden) throw markers.refusal;
    if (!await commit(deps.store, deps.clock, begin(markers))) throw contended("markers");
    c.res = answer;
  });
}

function isRateLimited(error: Error | undefined): boolean {
  return error instanceof Refusal && error.reason === "request.rate_limited";
}

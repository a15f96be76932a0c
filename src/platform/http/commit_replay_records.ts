/**
 * Replay records that no commit of the request took along are spent at its end: a proof that came with a
 * read, or with a request that was rejected, is used up all the same (RFC 9449 §11.1). A request that is rate-limited, or
 * that failed with the store, uses up nothing, so that it can be sent again as it is.
 */
import { createMiddleware } from "hono/factory";
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit, contended } from "../../base/store/transaction.ts";
import type { RequestEnv } from "../../base/http/context.ts";

/** Middleware; the answer of a request whose replay record was spent before is the replay record's rejection instead. */
export function commitReplayRecords(
  deps: { readonly store: Store; readonly clock: Clock },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function spend(c, next) {
    await next();
    const replayRecords = c.get("replayRecords");
    // A rejection that a commit threw has become the answer, unless a handler has caught it.
    const hidden = replayRecords.rejection !== undefined && c.error !== replayRecords.rejection;
    if (!hidden && (replayRecords.pending.length === 0 || usesUpNothing(c.error))) return;
    const answer = c.res;
    c.res = undefined; // a rejection takes the answer's place as a whole, headers too
    if (hidden) throw replayRecords.rejection;
    if (!await commit(deps.store, deps.clock, begin(replayRecords))) throw contended("replayRecords");
    c.res = answer;
  });
}

function usesUpNothing(error: Error | undefined): boolean {
  return isStoreFailure(error) || error instanceof ApiError && error.reason === "request.rate_limited";
}

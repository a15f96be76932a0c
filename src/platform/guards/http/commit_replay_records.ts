/**
 * Commits, at the end of the request, replay records that no other commit has written. A proof is used even if its
 * request was a read or was rejected (RFC 9449 §11.1). A request that was rate-limited or failed because of the store
 * does not consume its proof, so that it can be sent again unchanged.
 */
import { createMiddleware } from "hono/factory";
import { ApiError, type ErrorReason, isStoreFailure } from "../../../base/kernel/api_error.ts";
import { commitReplayRecords as commitRecords, type TransactDeps } from "../../../base/store/transaction.ts";
import type { RequestEnv } from "../../../base/http/context.ts";

/** Creates the middleware. If a replay record was used before, its rejection replaces the response. */
export function commitReplayRecords(
  deps: TransactDeps,
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function spend(c, next) {
    await next();
    const replayRecords = c.get("replayRecords");
    // A rejection that a commit threw is already the response, unless a handler has caught it.
    const hidden = replayRecords.rejection !== undefined && c.error !== replayRecords.rejection;
    if (!hidden && (replayRecords.pending.length === 0 || usesUpNothing(c.error))) return;
    const answer = c.res;
    c.res = undefined; // a rejection replaces the whole response, including headers
    if (hidden) throw replayRecords.rejection;
    await commitRecords(deps, replayRecords);
    c.res = answer;
  });
}

const LIMITS: readonly ErrorReason[] = ["request.rate_limited", "consents.too_many_open"];

function usesUpNothing(error: Error | undefined): boolean {
  return isStoreFailure(error) || error instanceof ApiError && LIMITS.includes(error.reason);
}

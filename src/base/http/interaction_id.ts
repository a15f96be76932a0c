/** `x-fapi-interaction-id` on every answer: the caller's where it is a UUID, else a fresh one (Decision C10). */
import { createMiddleware } from "hono/factory";
import { isUuid } from "../kernel/identifiers.ts";
import { ApiError } from "../kernel/api_error.ts";
import { prefetch } from "../store/prefetch.ts";
import type { Store } from "../store/store.ts";
import { newReplayRecords } from "../store/transaction.ts";
import type { RequestEnv } from "./context.ts";

const HEADER = "x-fapi-interaction-id";

/** Names the request and opens its variables; a malformed id is rejected by {@link rejectMalformedInteractionId}. */
export function nameRequest(store: Store): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function named(c, next) {
    const sent = c.req.header(HEADER);
    c.set("interactionId", isUuid(sent) ? sent : crypto.randomUUID());
    c.set("replayRecords", newReplayRecords());
    c.set("reads", prefetch(store));
    await next();
    c.res.headers.set(HEADER, c.get("interactionId"));
  });
}

/** @throws {ApiError} where the header was sent and is no UUID: its text is never reflected (contract FAPI-G23). */
export function rejectMalformedInteractionId(sent: string | undefined): void {
  if (sent === undefined || isUuid(sent)) return;
  const fault = {
    code: "Header.Invalid",
    path: HEADER,
    message: "x-fapi-interaction-id must be a UUID.",
  } as const;
  throw new ApiError("request.header_invalid", { faults: [fault] });
}

/**
 * Sets `x-fapi-interaction-id` on every response: the caller's value if it is a UUID, else a new one (Decision C10).
 */
import { createMiddleware } from "hono/factory";
import { isUuid } from "../kernel/identifiers.ts";
import { ApiError } from "../kernel/api_error.ts";
import { openRequestReads } from "../store/request_reads.ts";
import type { Store } from "../store/store.ts";
import { newReplayRecords } from "../store/transaction.ts";
import type { RequestEnv } from "./context.ts";
import { traceIdOf } from "./request_facts.ts";
import { newTraceNotes } from "./request_trace.ts";

const HEADER = "x-fapi-interaction-id";

/**
 * Middleware: sets the interaction id and the request's variables. {@link rejectMalformedInteractionId} rejects a
 * malformed id.
 */
export function nameRequest(store: Store): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function named(c, next) {
    const sent = c.req.header(HEADER);
    const interactionId = isUuid(sent) ? sent : crypto.randomUUID();
    const traceId = traceIdOf(c.req.header("traceparent"));
    c.set("interactionId", interactionId);
    c.set("facts", { interactionId, ...(traceId === undefined ? {} : { traceId }) });
    c.set("trace", newTraceNotes());
    c.set("replayRecords", newReplayRecords());
    c.set("reads", openRequestReads(store));
    await next();
    c.res.headers.set(HEADER, c.get("interactionId"));
  });
}

/** @throws {ApiError} if the header was sent and is not a UUID. Its text is never reflected (contract FAPI-G23). */
export function rejectMalformedInteractionId(sent: string | undefined): void {
  if (sent === undefined || isUuid(sent)) return;
  const fault = {
    code: "Header.Invalid",
    path: HEADER,
    message: "x-fapi-interaction-id must be a UUID.",
  } as const;
  throw new ApiError("request.header_invalid", { faults: [fault] });
}

/** `x-fapi-interaction-id` on every answer: the caller's where it is a UUID, else a fresh one (Decision C10). */
import { createMiddleware } from "hono/factory";
import { isUuid } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/api_error.ts";
import { readAhead } from "../store/read_ahead.ts";
import type { Store } from "../store/store.ts";
import { newMarkers } from "../store/transaction.ts";
import type { RequestEnv } from "./context.ts";

const HEADER = "x-fapi-interaction-id";

/** Names the request and opens its variables; a malformed id is refused by {@link refuseMalformedInteractionId}. */
export function nameRequest(store: Store): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function named(c, next) {
    const sent = c.req.header(HEADER);
    c.set("interactionId", isUuid(sent) ? sent : crypto.randomUUID());
    c.set("markers", newMarkers());
    c.set("reads", readAhead(store));
    await next();
    c.res.headers.set(HEADER, c.get("interactionId"));
  });
}

/** @throws {Refusal} where the header was sent and is no UUID: its text is never reflected (checklist G23). */
export function refuseMalformedInteractionId(sent: string | undefined): void {
  if (sent === undefined || isUuid(sent)) return;
  const fault = {
    code: "Header.Invalid",
    path: HEADER,
    message: "x-fapi-interaction-id must be a UUID.",
  } as const;
  throw new Refusal("request.header_invalid", { faults: [fault] });
}

/** What the administrators' endpoints share: the guard, whom a request is about, and its answer. */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Target } from "../changes/change_participant.ts";
import { asOrgId } from "../participants/identifiers.ts";
import type { Participant } from "../participants/participant.ts";
import { findParticipant } from "../participants/participant_store.ts";
import { openBearer } from "../../base/http/bearer.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { DirectoryEnv } from "./request_context.ts";

export const JSON_TYPE = "application/json";
/** The path of a participant. */
export const ONE = "/participants/{org_id}";

/** Of an endpoint, whatever its checks add. */
export type AdminContext = Pick<Context<DirectoryEnv>, "req" | "get" | "body">;

/** Check: the participant of the path exists. */
export function knownParticipant(
  store: Reader,
): MiddlewareHandler<DirectoryEnv & { Variables: { participant: Participant } }> {
  return createMiddleware(async function findKnown(c, next) {
    const entry = await findParticipant(store, target(c).orgId);
    if (entry === null) throw new ApiError("directory.not_found", "no such participant");
    c.set("participant", entry.value);
    await next();
  });
}

export function target(c: Pick<AdminContext, "req" | "get">): Target {
  const orgId = asOrgId(c.req.param("org_id"));
  if (orgId === undefined) throw new ApiError("directory.not_found", "no org_id");
  return {
    orgId,
    who: c.get("administrator"),
    isOwn: c.get("organisation") !== undefined,
    approval: c.get("approval"),
  };
}

export function answer(c: AdminContext, body: unknown, status: 200 | 201 = 200): Response {
  return c.body(JSON.stringify(body), status, {
    "content-type": JSON_TYPE,
    "cache-control": "no-store",
  });
}

/**
 * Guard: only requests with an administrator's credential pass (RFC 6750 §2.1). The history records its name. The
 * response does not show why a credential is wrong.
 */
export function requireAdministrator(
  { administrators, clock, log }: {
    readonly administrators: Credentials;
    readonly clock: Clock;
    readonly log: DirectoryLog;
  },
): MiddlewareHandler<DirectoryEnv> {
  const bearer = openBearer({
    identify: administrators.identify,
    clock,
    unauthorized: "directory.unauthorized",
  });
  return createMiddleware<DirectoryEnv>(async function administrator(c, next): Promise<void> {
    const { name, person } = await bearer(c.req.header("authorization"), (credential) => {
      log.warn("directory.wrong_credential", { requestId: c.get("requestId"), credential });
    });
    c.set("administrator", name);
    c.set("person", person);
    await next();
  });
}

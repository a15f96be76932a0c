/**
 * Guard: only requests with an administrator's credential pass (RFC 6750 §2.1). The history records its name. The
 * response does not show why a credential is wrong.
 */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { openBearer } from "../../base/http/bearer.ts";
import type { Credentials } from "../../base/http/credentials.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { DirectoryEnv } from "./request_context.ts";

/** A guard for the routes of administrators. */
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

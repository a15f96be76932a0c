/** Per-request variables of the directory, and the headers of every response. */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { protectPage } from "../../base/http/host_middleware.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { Approval } from "../changes/proposals.ts";

/** Hono's environment in the directory. */
export interface DirectoryEnv {
  /** Set by the listener: the sender's address. */
  Bindings: { readonly address?: string };
  Variables: {
    /** Identifies the request in the log and in the response. */
    requestId: string;
    /** The person who made the request, for the history. */
    administrator: string;
    /** Who that person is at the OpenID provider, if it is known. */
    person: string | undefined;
    /** The participant for which that person acts; undefined for administrators. */
    organisation: string | undefined;
    /** Of a change that two administrators make. Set by calls within the process alone. */
    approval: Approval | undefined;
    /** The strictly parsed body (`json_body.ts`). Its fields are not checked yet. */
    json: unknown;
  };
}

/**
 * Middleware: a request id, one log line a request, and headers that prevent misuse of responses.
 *
 * @param idOf the id of a request that has one already
 */
export function requestContext(
  log: DirectoryLog,
  idOf: (request: Request) => string | undefined = () => undefined,
): MiddlewareHandler<DirectoryEnv> {
  return createMiddleware<DirectoryEnv>(async function setContext(c, next): Promise<void> {
    c.set("requestId", idOf(c.req.raw) ?? crypto.randomUUID());
    await next();
    c.header("x-request-id", c.get("requestId"));
    protectPage(c.res.headers, "default-src 'none'; frame-ancestors 'none'");
    log.info("directory.answered", {
      requestId: c.get("requestId"),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      administrator: c.get("administrator"),
    });
  });
}

/**
 * Turns an error of a route into `{error, error_description}`. Any error but an ApiError is a bug: 500 without details,
 * and the stack is logged.
 */
import type { Context } from "hono";
import { rejectionHeaders } from "../../base/http/rejection_headers.ts";
import { ApiError, isStoreFailure } from "../../base/kernel/api_error.ts";
import { isConsolePath } from "../../console/paths.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { DirectoryEnv } from "./request_context.ts";
import { wireOf } from "./error_table.ts";

/** Hono's `onError` for the directory. `drawPage` draws the errors of the console's pages. */
export function answerErrors(
  log: DirectoryLog,
  drawPage?: (c: Context, error: { readonly status: number }) => Response,
): (error: Error, c: Context<DirectoryEnv>) => Response {
  return function onError(error, c): Response {
    const rejection = error instanceof ApiError ? error : undefined;
    const wire = wireOf(rejection?.reason);
    note(log, c, error, wire.status);
    rejectionHeaders(rejection).forEach((value, name) => c.header(name, value));
    if (drawPage !== undefined && isConsolePath(c.req.path)) return drawPage(c, wire);
    if (wire.status === 401) c.header("www-authenticate", 'Bearer realm="directory"'); // RFC 6750 §3
    const description = rejection?.parts.description ?? wire.description;
    return c.json({ error: wire.error, error_description: printableText(description) }, wire.status);
  };
}

function note(log: DirectoryLog, c: Context<DirectoryEnv>, error: Error, status: number): void {
  const requestId = c.get("requestId");
  if (isStoreFailure(error)) log.info("directory.rejected", { requestId, status, detail: error.message });
  else if (status === 500) log.error("directory.failed", { requestId, error: error.stack ?? error.message });
  else if (status === 503) log.error("directory.unavailable", { requestId, detail: error.message });
  else log.info("directory.rejected", { requestId, status, detail: error.message });
}

// RFC 6749 §5.2 allows only ASCII without quotes and backslashes.
function printableText(description: string): string {
  return description.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, "?");
}

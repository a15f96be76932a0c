/**
 * Turns an error of a route into `{error, error_description}`. Any error but an ApiError is a bug: 500 without details,
 * and the stack is logged.
 */
import type { Context } from "hono";
import { errorText } from "../../base/kernel/batches.ts";
import { rejectionHeaders } from "../../base/http/rejection_headers.ts";
import {
  ApiError,
  type ErrorReason,
  isStoreFailure,
  type SharedReason,
} from "../../base/kernel/api_error.ts";
import { isConsolePath } from "../../console/paths.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { DirectoryEnv } from "./request_context.ts";

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
  else if (status === 500) log.error("directory.failed", { requestId, error: errorText(error) });
  else if (status === 503) log.error("directory.unavailable", { requestId, detail: error.message });
  else log.info("directory.rejected", { requestId, status, detail: error.message });
}

// RFC 6749 §5.2 allows only ASCII without quotes and backslashes.
function printableText(description: string): string {
  return description.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, "?");
}

type DirectoryReason = SharedReason | Extract<ErrorReason, `directory.${string}`>;

/** The status and body of an error. `description` is printable ASCII without quotes and backslashes (RFC 6749 §5.2). */
interface DirectoryWire {
  readonly status: 400 | 401 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503;
  readonly error: string;
  readonly description: string;
}

/** Maps every rejection reason of the directory to a status and code. A reason of the platform that is missing here is a bug. */
const WIRE = {
  "request.not_found": { status: 404, error: "not_found", description: "There is nothing here." },
  "request.method_not_allowed": {
    status: 405,
    error: "invalid_request",
    description: "The method is not allowed here.",
  },
  "request.too_large": { status: 413, error: "invalid_request", description: "The body is too large." },
  "request.incomplete": {
    status: 400,
    error: "invalid_request",
    description: "The body did not arrive completely. Send the request again.",
  },
  "request.malformed_form": { status: 400, error: "invalid_request", description: "The form is malformed." },
  "request.unsupported_media_type": {
    status: 415,
    error: "invalid_request",
    description: "The body must be application/json.",
  },
  "request.unsupported_content_encoding": {
    status: 415,
    error: "invalid_request",
    description: "The body must not be encoded.",
  },
  "request.rate_limited": {
    status: 429,
    error: "slow_down",
    description: "Too many requests. Try again after the delay in Retry-After.",
  },
  "platform.unavailable": {
    status: 503,
    error: "temporarily_unavailable",
    description: "The directory cannot do this now.",
  },
  "store.unavailable": {
    status: 503,
    error: "temporarily_unavailable",
    description: "The directory cannot do this now. Try again after the delay in Retry-After.",
  },
  "directory.unauthorized": {
    status: 401,
    error: "invalid_token",
    description: "The administrator token is missing, wrong or revoked.",
  },
  "directory.invalid_request": {
    status: 400,
    error: "invalid_request",
    description: "The request is not valid.",
  },
  "directory.conflict": {
    status: 409,
    error: "conflict",
    description: "The request conflicts with what is there.",
  },
  "directory.not_found": {
    status: 404,
    error: "not_found",
    description: "There is no such participant, key, login, report or proposal.",
  },
} as const satisfies Record<DirectoryReason, DirectoryWire>;

const BUG: DirectoryWire = { status: 500, error: "server_error", description: "Something went wrong here." };

/** The error for a reason; an unknown reason is reported as a server error. */
function wireOf(reason: ErrorReason | undefined): DirectoryWire {
  return reason !== undefined && isDirectoryReason(reason) ? WIRE[reason] : BUG;
}

function isDirectoryReason(reason: ErrorReason): reason is DirectoryReason {
  return Object.hasOwn(WIRE, reason);
}

/**
 * Turns an error into the response of its surface. The error table has a row for each ApiError. Any other error is a
 * bug: the response is a 500 without details, and the log has the stack with the interaction id.
 */
import type { Context } from "hono";
import type { StatusCode } from "hono/utils/http-status";
import type { ApiErrorParts, Fault, FaultCode } from "../../base/kernel/api_error.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Log } from "../../base/observability/log.ts";
import type { RequestEnv, Surface } from "../../base/http/context.ts";
import { rejectionHeaders } from "../../base/http/rejection_headers.ts";
import { prefersHtml } from "../../base/http/prefers_html.ts";
import { BUG_WIRE, ERROR_TABLE, type PageWire, type ResourceWire, type Wire } from "./error_table.ts";

export interface ErrorPage extends PageWire {
  readonly interactionId: string;
  /** The next URL for the reader. */
  readonly nextUrl: string | undefined;
  /** The TPP that the reader came from and its web page, if known. */
  readonly tpp?: ApiErrorParts["tpp"] | undefined;
}

/** Renders an error page in the reader's language. Implemented by `platform/http/error_routes.ts`. */
export type DrawErrorPage = (c: Context, page: ErrorPage) => Response | Promise<Response>;

export interface ErrorDeps {
  readonly log: Log;
  readonly drawErrorPage: DrawErrorPage;
}

/** Returns Hono's `onError` for both hosts. */
export function answerErrors(
  deps: ErrorDeps,
): (error: Error, c: Context<RequestEnv>) => Response | Promise<Response> {
  return function onError(error, c) {
    const rejection = error instanceof ApiError ? error : undefined;
    const wire: Wire = rejection === undefined ? BUG_WIRE : ERROR_TABLE[rejection.reason];
    note(deps.log, c, error, rejection);
    const surface = surfaceOf(c, rejection);
    if (surface === "browser") {
      rejectionHeaders(rejection).forEach((value, name) => c.header(name, value));
      const { nextUrl, tpp } = rejection?.parts ?? {};
      return deps.drawErrorPage(c, { ...pageOf(wire), interactionId: c.get("interactionId"), nextUrl, tpp });
    }
    if (surface === "resource" && wire.resource !== undefined) return resourceError(wire.resource, rejection);
    return oauthError(wire, rejection);
  };
}

/**
 * Unknown addresses of the browser host may be requested by programs, so only clients that accept HTML get a page
 * (RFC 9110 §12.1).
 */
function surfaceOf(c: Context<RequestEnv>, rejection: ApiError | undefined): Surface {
  const surface = c.get("surface") ?? "oauth";
  const lost = rejection?.reason === "request.not_found" ||
    rejection?.reason === "request.method_not_allowed";
  return surface === "browser" && lost && !prefersHtml(c.req.header("accept")) ? "oauth" : surface;
}

function note(log: Log, c: Context<RequestEnv>, error: Error, rejection: ApiError | undefined): void {
  const interactionId = c.get("interactionId");
  if (rejection === undefined) {
    log.error("request.failed", { interactionId, error: error.stack ?? error.message });
  } else {log.info("request.rejected", {
      interactionId,
      reason: rejection.reason,
      detail: rejection.parts.detail,
    });}
}

function oauthError({ oauth }: Wire, rejection: ApiError | undefined): Response {
  const body = { error: oauth.error, error_description: rejection?.parts.description ?? oauth.description };
  const headers = rejectionHeaders(rejection);
  if (oauth.challenge !== undefined) headers.set("www-authenticate", oauth.challenge);
  return answer(oauth.status, headers, body);
}

function resourceError(wire: ResourceWire, rejection: ApiError | undefined): Response {
  const headers = rejectionHeaders(rejection);
  if (wire.challenge !== undefined) {
    headers.set("www-authenticate", challenge(wire.challenge, rejection?.parts));
  }
  if (wire.code === undefined) return answer(wire.status, headers); // Decision C3: 401 has no body
  return answer(wire.status, headers, obError(wire, wire.code, rejection?.parts.faults));
}

/** `OBErrorResponse1` (contract EB1 to EB4). */
function obError(wire: ResourceWire, code: FaultCode, faults: readonly Fault[] = []): object {
  const listed: readonly Fault[] = faults.length > 0 ? faults : [{ code, message: wire.message }];
  const errors = listed.map(({ code, message, path = wire.path }) => ({
    ErrorCode: `UK.OBIE.${code}`,
    Message: message,
    ...(path === undefined ? {} : { Path: path }),
  }));
  return {
    Code: STATUS_CODE[wire.status] ?? String(wire.status),
    Id: crypto.randomUUID(),
    Message: wire.message,
    Errors: errors,
  };
}

const STATUS_CODE: Readonly<Record<number, string>> = {
  400: "400 BadRequest",
  403: "403 Forbidden",
  413: "413 PayloadTooLarge",
  415: "415 UnsupportedMediaType",
  500: "500 InternalServerError",
  503: "503 ServiceUnavailable",
};

// RFC 9449 §7.1: the challenge names the algorithms. It has no error if no credentials were sent (RFC 6750 §3.1).
function challenge(error: string, { description, scope }: ApiErrorParts = {}): string {
  const parts = error === "" ? [] : [`error="${error}"`];
  if (description !== undefined) parts.push(`error_description="${description}"`);
  if (scope !== undefined) parts.push(`scope="${scope}"`);
  return `DPoP ${[...parts, 'algs="PS256"'].join(", ")}`;
}

function pageOf(wire: Wire): PageWire {
  return wire.page ?? { status: 400, page: "link_unusable" };
}

// A new response, independent of the context, so that it contains no part of the response that it replaces.
function answer(status: StatusCode, headers: Headers, body?: object): Response {
  if (body === undefined) return new Response(null, { status, headers });
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(body), { status, headers });
}

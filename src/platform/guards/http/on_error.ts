/**
 * Turns an error into the response of its surface. The error table has a row for each ApiError. Any other error is a
 * bug: the response is a 500 without details, and the log has the stack with the interaction id.
 */
import type { Context } from "hono";
import { errorText } from "../../../base/kernel/batches.ts";
import type { StatusCode } from "hono/utils/http-status";
import {
  ApiError,
  type ApiErrorParts,
  type ErrorReason,
  type Fault,
  type FaultCode,
  type SecurityEvent,
} from "../../../base/kernel/api_error.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import type { Log } from "../../observed/log_events.ts";
import type { RequestEnv, Surface } from "../../../base/http/context.ts";
import { noteTold, tracedRejection } from "./trace_requests.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import { explanation, type Mismatch } from "../../../base/kernel/result.ts";
import { rejectionHeaders } from "../../../base/http/rejection_headers.ts";
import { prefersHtml } from "../../../base/http/body.ts";
import { type LinkFault, linkFaultOf } from "./link_faults.ts";
import { BUG_WIRE, ERROR_TABLE, type PageWire, type ResourceWire, type Wire } from "./error_table.ts";

const BY_REASON: Readonly<Partial<Record<ErrorReason, SecurityEvent>>> = {
  "dpop.key_mismatch": "security.proof_key_mismatch",
  "certificate.not_participants": "security.certificate_mismatch",
  "client.not_authenticated": "security.client_not_authenticated",
  "signature.invalid": "security.signature_invalid",
  "bank_return.not_authentic": "security.bank_return_not_authentic",
  "interaction.not_yours": "security.session_of_another_browser",
};

/** Returns the security event of a rejection, or undefined if it is none. */
function securityEventOf({ reason, parts }: ApiError): SecurityEvent | undefined {
  return parts.security ?? BY_REASON[reason];
}

export interface ErrorPage extends PageWire {
  readonly interactionId: string;
  /** The next URL for the reader. */
  readonly nextUrl: string | undefined;
  /** The TPP that the reader came from and its web page, if known. */
  readonly tpp?: ApiErrorParts["tpp"] | undefined;
  /** The languages that the TPP asked for. */
  readonly uiLocales?: readonly string[] | undefined;
  /** The fault of the TPP's link. */
  readonly fault?: LinkFault | undefined;
}

/** Renders an error page in the reader's language. Implemented by `platform/guards/http/error_routes.ts`. */
export type DrawErrorPage = (c: Context, page: ErrorPage) => Response | Promise<Response>;

/** The explanation that a caller with a proven certificate gets of its own request (Decision G8). */
export interface Explained {
  /** The client of the certificate. */
  readonly client: ClientId;
  /** Absent if the rejection names no fault. */
  readonly fault?: Mismatch;
  /** The documented reason. It is not the rejection's own if that would tell about another client. */
  readonly reason: ErrorReason;
}

export interface ErrorDeps {
  readonly log: Log;
  readonly metrics: Pick<PlatformMetrics, "count">;
  /** Returns undefined if the certificate of the request is not proven. */
  readonly explain: (c: Context, rejection: ApiError) => Promise<Explained | undefined>;
  /** Returns the address of a reason's documentation. */
  readonly errorUri: (reason: ErrorReason) => string;
  /** Returns the page of a request's trace, which a sandbox shows to anyone. Absent elsewhere. */
  readonly traceUri?: ((interactionId: string) => string) | undefined;
  readonly drawErrorPage: DrawErrorPage;
}

/** Returns Hono's `onError` for both hosts. */
export function answerErrors(deps: ErrorDeps): (error: Error, c: Context<RequestEnv>) => Promise<Response> {
  return async function onError(error, c) {
    const rejection = error instanceof ApiError ? error : undefined;
    const wire: Wire = rejection === undefined ? BUG_WIRE : ERROR_TABLE[rejection.reason];
    const surface = surfaceOf(c, rejection);
    c.get("trace").rejection = tracedRejection(rejection, surface === "browser");
    note(deps, c, error, rejection);
    if (surface === "browser") {
      rejectionHeaders(rejection).forEach((value, name) => c.header(name, value));
      const { nextUrl, tpp, uiLocales } = rejection?.parts ?? {};
      return await deps.drawErrorPage(c, {
        ...pageOf(wire),
        interactionId: c.get("interactionId"),
        nextUrl,
        tpp,
        uiLocales,
        fault: linkFaultOf(rejection),
      });
    }
    const told = rejection === undefined ? undefined : await explainRejection(deps, c, rejection, wire);
    if (surface === "resource" && wire.resource !== undefined) {
      return resourceError(wire.resource, rejection, told);
    }
    return oauthError(wire, rejection, told);
  };
}

/** The explanation beyond the generic answer. */
interface Told {
  /** Printable ASCII without `"` and `\`. Absent if the rejection names no fault. */
  readonly text?: string;
  readonly uri: string;
}

/** Statuses of requests that are wrong, on the OAuth surface. Others say nothing about the request, and an overload must stay cheap. */
const EXPLAINED: ReadonlySet<StatusCode> = new Set<StatusCode>([400, 401, 403, 406, 413, 415]);

async function explainRejection(
  deps: ErrorDeps,
  c: Context<RequestEnv>,
  rejection: ApiError,
  { oauth }: Wire,
): Promise<Told | undefined> {
  if (!EXPLAINED.has(oauth.status)) return undefined;
  const words = await deps.explain(c, rejection);
  if (words === undefined) {
    return deps.traceUri === undefined ? undefined : { uri: deps.traceUri(c.get("interactionId")) };
  }
  const { client, reason, fault } = words;
  noteTold(c.get("trace"), client, { reason, ...(fault === undefined ? {} : { fault }) });
  return { ...(fault === undefined ? {} : { text: explanation(fault) }), uri: deps.errorUri(reason) };
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

function note(
  { log, metrics }: ErrorDeps,
  c: Context<RequestEnv>,
  error: Error,
  rejection: ApiError | undefined,
): void {
  const facts = c.get("facts");
  if (rejection === undefined) {
    metrics.count("platform_failures_total", {});
    return log.error("request.failed", { ...facts, error: errorText(error) });
  }
  const { reason, parts: { detail } } = rejection;
  metrics.count("platform_rejections_total", { reason });
  log.info("request.rejected", { ...facts, reason, detail });
  const event = securityEventOf(rejection);
  if (event === undefined) return;
  metrics.count("platform_security_events_total", { event });
  log.security(event, { ...facts, reason, detail });
}

function oauthError({ oauth }: Wire, rejection: ApiError | undefined, told: Told | undefined): Response {
  const body = {
    error: oauth.error,
    error_description: told?.text ?? rejection?.parts.description ?? oauth.description,
    ...(told === undefined ? {} : { error_uri: told.uri }),
  };
  const headers = rejectionHeaders(rejection);
  if (oauth.challenge !== undefined) headers.set("www-authenticate", oauth.challenge);
  return answer(oauth.status, headers, body);
}

function resourceError(
  wire: ResourceWire,
  rejection: ApiError | undefined,
  told: Told | undefined,
): Response {
  const headers = rejectionHeaders(rejection);
  if (wire.challenge !== undefined) {
    headers.set("www-authenticate", challenge(wire.challenge, rejection?.parts, told));
  }
  if (wire.code === undefined) return answer(wire.status, headers); // Decision C3: 401 has no body
  return answer(wire.status, headers, obError(wire, wire.code, rejection?.parts.faults, told));
}

/** `OBErrorResponse1` (contract EB1 to EB4). */
function obError(
  wire: ResourceWire,
  code: FaultCode,
  faults: readonly Fault[] = [],
  told: Told | undefined,
): object {
  const [only = { code, message: wire.message }, ...more] = faults;
  const listed: readonly Fault[] = [{ ...only, message: told?.text ?? only.message }, ...more];
  const errors = listed.map(({ code, message, path = wire.path }) => ({
    ErrorCode: `UK.OBIE.${code}`,
    Message: message,
    ...(path === undefined ? {} : { Path: path }),
    ...(told === undefined ? {} : { Url: told.uri }),
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
  409: "409 Conflict",
  403: "403 Forbidden",
  413: "413 PayloadTooLarge",
  415: "415 UnsupportedMediaType",
  500: "500 InternalServerError",
  503: "503 ServiceUnavailable",
};

// RFC 9449 §7.1: the challenge names the algorithms. It has no error if no credentials were sent (RFC 6750 §3.1).
function challenge(
  error: string,
  { description, scope }: ApiErrorParts = {},
  told: Told | undefined,
): string {
  const parts = error === "" ? [] : [`error="${error}"`];
  const text = told?.text ?? description;
  if (text !== undefined) parts.push(`error_description="${text}"`);
  if (told !== undefined) parts.push(`error_uri="${told.uri}"`);
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

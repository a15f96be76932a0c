/** Middleware: hands over what is known of each request of participants and customers for its trace, once it is answered. */
import { createMiddleware } from "hono/factory";
import type { RequestEnv, RequestFacts, TracedRejection, TraceNotes } from "../../../base/http/context.ts";
import { endpointsAt } from "../../../base/http/endpoint.ts";
import type { Clock, MonotonicClock } from "../../../base/kernel/clock.ts";
import { endpointOf, PUBLIC } from "./endpoint.ts";
import type { ApiError, ErrorReason } from "../../../base/kernel/api_error.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";

/** A request and its measured duration. */
export interface MeasuredRequest {
  /** Milliseconds. */
  readonly at: number;
  /** From the arrival of the request's head to its response. */
  readonly milliseconds: number;
  readonly method: string;
  /** The declared path of the endpoint, or `none`. It never contains what was sent. */
  readonly route: string;
  readonly status: number;
  /** The names of the endpoint's checks, in order. */
  readonly checks: readonly string[];
  /** How many of them have passed. */
  readonly passed: number;
}

/** Takes what is known of a request. Must not wait or throw. */
export type RecordTrace = (facts: RequestFacts, notes: TraceNotes, measured: MeasuredRequest) => void;

/**
 * What anyone may read has a trace only if it is rejected.
 *
 * @param deps.elapsed a monotonic clock in milliseconds
 * @param deps.keepsJwts whether rejected requests keep what their JWTs said: in a sandbox
 */
export function traceRequests(
  { record, clock, elapsed, keepsJwts }: {
    readonly record: RecordTrace;
    readonly clock: Clock;
    readonly elapsed: MonotonicClock;
    readonly keepsJwts: boolean;
  },
): ReturnType<typeof createMiddleware<RequestEnv>> {
  return createMiddleware<RequestEnv>(async function traced(c, next) {
    const [at, began] = [clock(), elapsed()];
    if (keepsJwts) c.get("trace").received = [];
    await next();
    const { status } = c.res;
    if (status < 400 && PUBLIC.has(endpointOf(c)?.traffic ?? "public")) return;
    const endpoints = endpointsAt(c);
    const [any] = endpoints?.values() ?? [];
    const endpoint = endpoints?.get(c.req.method);
    record(c.get("facts"), c.get("trace"), {
      at,
      milliseconds: Math.round((elapsed() - began) * 10) / 10,
      method: endpoint === undefined ? "other" : c.req.method,
      route: any?.route.path ?? "none",
      status,
      checks: endpoint?.checks.map(({ name }) => name) ?? [],
      passed: c.get("passed") ?? 0,
    });
  });
}

// Notes a rejection for the trace of its request. What a party may read of it is what the answer told it.

/**
 * Returns what is noted of a rejection.
 *
 * @param rejection undefined: a fault of the platform
 * @param withFault whether what was wrong may be noted before it is told
 */
export function tracedRejection(rejection: ApiError | undefined, withFault = false): TracedRejection {
  if (rejection === undefined) return { reason: "platform.failed" };
  const { reason, parts: { detail, fault, faults } } = rejection;
  return {
    reason,
    ...(detail === undefined ? {} : { detail }),
    ...(fault === undefined || !withFault ? {} : { fault }),
    ...(faults === undefined ? {} : { faults }),
  };
}

/** Replaces what was wrong by what was told to the client of the certificate (Decision G8). */
export function noteTold(
  notes: TraceNotes,
  client: ClientId,
  told: { readonly reason: ErrorReason; readonly fault?: Mismatch },
): void {
  const { reason: toldReason, ...fault } = told;
  const rejection = notes.rejection ?? tracedRejection(undefined);
  notes.provenClient = client;
  notes.rejection = { ...rejection, ...(toldReason === rejection.reason ? {} : { toldReason }), ...fault };
}

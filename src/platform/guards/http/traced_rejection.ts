/** Notes a rejection for the trace of its request. What a party may read of it is what the answer told it. */
import type { ApiError, ErrorReason } from "../../../base/kernel/api_error.ts";
import type { TracedRejection, TraceNotes } from "../../../base/http/request_trace.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";

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

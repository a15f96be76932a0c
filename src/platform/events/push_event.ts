/** Pushes one security event token to its receiver (RFC 8935), and reports the push. Only a 202 acknowledges it. */
import { isCallable, postOnce, readBounded } from "../../base/http/outgoing.ts";
import { describedMismatch, type Mismatch, mismatch } from "../../base/kernel/result.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import { boundedPauseSeconds, secondsUntil } from "./delivery/retry_delays.ts";
import { decodePushError } from "./push_answer_schema.ts";
import { ORDER_PUSH_SECONDS } from "../../base/profile.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import { type EventPushFailure, pushOf } from "./push_state.ts";
import type { ReceiverCircuit } from "./delivery/receiver_circuit.ts";
import type { PlacedEvent } from "./event_store.ts";

export type EventPushOutcome =
  | { readonly ok: true; readonly status: number }
  | {
    readonly ok: false;
    readonly failure: EventPushFailure;
    /** Absent without a response. */
    readonly status?: number;
    /** For the TPP: what was expected of its response. */
    readonly fault: Mismatch;
  };

export interface PushEventDeps {
  readonly fetch: typeof fetch;
  /** Sandbox only: receivers on this computer's loopback addresses. */
  readonly loopbackReceivers: boolean;
}

const MAX_ANSWER_BYTES = 4096;

/**
 * Pushes once. The time limit holds for the whole exchange, so that a receiver that sends its response in drops is
 * no longer waited for than one that sends nothing.
 *
 * @param now milliseconds
 */
export async function pushEvent(
  { fetch, loopbackReceivers }: PushEventDeps,
  uri: string,
  token: string,
  now: number,
): Promise<EventPushOutcome> {
  if (!isCallable(uri, { loopback: loopbackReceivers })) {
    const { fault } = mismatch("CallbackUrl", "https on a public host name");
    return { ok: false, failure: { kind: "rejected", why: "CallbackUrl may not be called" }, fault };
  }
  try {
    const response = await postOnce(fetch, uri, {
      headers: { "content-type": "application/secevent+jwt", accept: "application/json" },
      body: token,
      signal: AbortSignal.timeout(ORDER_PUSH_SECONDS * 1000),
    });
    return await outcomeOf(response, now);
  } catch (error) {
    const why = error instanceof Error ? error.name : "failed";
    const { fault } = describedMismatch("the response", `complete within ${ORDER_PUSH_SECONDS} s`, why);
    return { ok: false, failure: { kind: "unreachable", why }, fault };
  }
}

async function outcomeOf(response: Response, now: number): Promise<EventPushOutcome> {
  const { status, headers } = response;
  if (status === 202) {
    await response.body?.cancel();
    return { ok: true, status };
  }
  const err = status === 400 ? decodePushError(await readBounded(response, MAX_ANSWER_BYTES)) : undefined;
  if (status !== 400) await response.body?.cancel();
  const why = err === undefined ? `status ${status}` : `status ${status}, err ${err}`;
  const pause = secondsUntil(headers.get("retry-after"), now);
  const { fault } = mismatch("status", "202, which acknowledges the event", status);
  const failure: EventPushFailure = {
    kind: status >= 500 ? "unreachable" : status === 429 && pause !== undefined ? "busy" : "rejected",
    why,
    ...(pause === undefined ? {} : { retryAfterSeconds: pause }),
  };
  return { ok: false, failure, status, fault };
}

export interface ReportPushDeps {
  readonly circuit: ReceiverCircuit<ClientId, ClientId>;
  readonly metrics: PlatformMetrics;
}

/** Counts a push by its result. */
export function measurePush(
  { metrics }: ReportPushDeps,
  outcome: EventPushOutcome,
  milliseconds: number,
): void {
  const result = outcome.ok ? "acknowledged" : outcome.failure.kind;
  metrics.count("platform_event_pushes_total", { result });
  metrics.observe("platform_event_push_duration_seconds", {}, milliseconds / 1000);
}

/** Tells the breaker how a push ended. A rejected event concerns only this event: the receiver was reached. */
export function reportPush(
  { circuit }: ReportPushDeps,
  { clientId }: { readonly clientId: ClientId },
  { entry }: PlacedEvent,
  outcome: EventPushOutcome,
): void {
  const message = { receiver: clientId, sender: clientId, failures: pushOf(entry.value).failures };
  if (outcome.ok || outcome.failure.kind !== "unreachable") circuit.answered(clientId);
  else circuit.unreachable(message);
  const seconds = outcome.ok ? undefined : outcome.failure.retryAfterSeconds;
  if (seconds !== undefined) circuit.paused(message, boundedPauseSeconds(seconds) * 1000);
}

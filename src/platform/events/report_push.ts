/** The consequences of a push beside its event: metrics, and the breaker of the receiver. */
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { ReceiverCircuit } from "./delivery/receiver_circuit.ts";
import { boundedPauseSeconds } from "./delivery/retry_delays.ts";
import type { PlatformMetrics } from "../observed/metrics.ts";
import type { PlacedEvent } from "./event_store.ts";
import type { EventPushOutcome } from "./push_event.ts";
import { pushOf } from "./push_state.ts";

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

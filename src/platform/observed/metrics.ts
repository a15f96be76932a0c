/** The metrics of the platform: names, labels and meanings (Decision O2). */
import {
  type MetricDeclarations,
  type Metrics,
  openMetrics,
  type ReadSamples,
} from "../../base/observability/metrics.ts";
import type { MonotonicClock } from "../../base/kernel/clock.ts";

/** Seconds. Most requests take some milliseconds, and a payment waits at most 3 s for its bank. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10] as const;

const REQUESTS = {
  platform_requests_total: {
    kind: "counter",
    help: "Answered requests by the path of their endpoint, or `none` for paths that no endpoint has.",
    labels: { route: "fixed", method: "fixed", status: "fixed" },
  },
  platform_bank_requests_total: {
    kind: "counter",
    help: "Answered requests below the path of a registered bank, by class of status.",
    labels: { bank: "bounded", status: "fixed" },
  },
  platform_client_requests_total: {
    kind: "counter",
    help: "Answered requests of an authenticated client (TPP or bank), by class of status.",
    labels: { client: "bounded", status: "fixed" },
  },
  platform_request_duration_seconds: {
    kind: "histogram",
    help: "Time from the arrival of a request's head to its response, by the path of its endpoint. " +
      "Without the wait of a poll for events.",
    labels: { route: "fixed" },
    buckets: REQUEST_BUCKETS,
  },
  platform_rejections_total: {
    kind: "counter",
    help: "Rejected requests by reason. The log event request.rejected has the same reason.",
    labels: { reason: "fixed" },
  },
  platform_failures_total: {
    kind: "counter",
    help: "Requests that failed by a fault of the platform (500).",
  },
  platform_shed_requests_total: {
    kind: "counter",
    help: "Requests rejected by the admission control, by lane.",
    labels: { lane: "fixed" },
  },
  platform_lane_requests: {
    kind: "gauge",
    help: "Requests in a lane of the admission control: in_work or waiting.",
    labels: { lane: "fixed", state: "fixed" },
  },
  platform_lane_places: {
    kind: "gauge",
    help: "Places of a lane of the admission control.",
    labels: { lane: "fixed" },
  },
} as const satisfies MetricDeclarations;

const ORDERS = {
  platform_orders: {
    kind: "gauge",
    help:
      "Payment orders without a response of their bank: waiting (all in the queue), due, retrying (waiting with a failed push), held, dead. Every process " +
      "reports the same orders of the database: take the maximum, not the sum.",
    labels: { bank: "bounded", state: "fixed" },
    among: "sum",
  },
  platform_order_oldest_age_seconds: {
    kind: "gauge",
    help:
      "Age of the oldest payment that waits for its bank, from its creation. Take the maximum over processes.",
    labels: { bank: "bounded" },
  },
  platform_order_held_age_seconds: {
    kind: "gauge",
    help: "How long the oldest held order of a bank is held. Take the maximum over processes.",
    labels: { bank: "bounded" },
  },
  platform_bank_unreconciled_seconds: {
    kind: "gauge",
    help:
      "How long a bank has waited for its reconciliation after a restore. Its TPPs get 503. Take the maximum over processes.",
    labels: { bank: "bounded" },
  },
  platform_payments_unsettled: {
    kind: "gauge",
    help:
      "Payments on which the bank has not decided for PLATFORM_UNSETTLED_HOURS, at most 1000. Take the maximum over processes.",
    labels: { bank: "bounded" },
  },
  platform_disputes_overdue: {
    kind: "gauge",
    help:
      "Disputes whose answer or decision is overdue, of at most 1000 open ones. Take the maximum over processes.",
  },
  platform_orders_counted_timestamp_seconds: {
    kind: "gauge",
    help: "When the numbers of orders were last counted.",
  },
  platform_order_pushes_total: {
    kind: "counter",
    help: "Pushes of payment orders by result: answered, refused, unclear, unreachable or unsent.",
    labels: { bank: "bounded", result: "fixed" },
  },
  platform_order_push_duration_seconds: {
    kind: "histogram",
    help: "Time of a push to its bank.",
    labels: { bank: "bounded" },
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  },
  platform_breaker_open_clients: {
    kind: "gauge",
    help: "TPPs whose orders to the bank the circuit breaker of this process delays.",
    labels: { bank: "bounded" },
    among: "sum",
  },
} as const satisfies MetricDeclarations;

const EVENTS = {
  platform_events: {
    kind: "gauge",
    help:
      "Events of subscribers with a CallbackUrl that are not acknowledged: waiting (to be pushed) or dead. Every " +
      "process reports those of the database: take the maximum, not the sum.",
    labels: { client: "bounded", state: "fixed" },
    among: "sum",
  },
  platform_event_oldest_age_seconds: {
    kind: "gauge",
    help: "Age of a subscriber's oldest event that is not acknowledged. Take the maximum over processes.",
    labels: { client: "bounded" },
  },
  platform_event_receivers_away: {
    kind: "gauge",
    help: "1 for a TPP whose receiver the circuit breaker of this process takes for away.",
    labels: { client: "bounded" },
  },
  platform_event_pushes_total: {
    kind: "counter",
    help: "Pushes of events to TPPs by result: acknowledged, rejected, busy or unreachable.",
    labels: { result: "fixed" },
  },
  platform_event_push_duration_seconds: {
    kind: "histogram",
    help: "Time of a push of an event to its TPP.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  },
} as const satisfies MetricDeclarations;

const DIRECTORY = {
  platform_directory_requests_total: {
    kind: "counter",
    help: "Requests to the directory by result: ok, rejected (4xx or 5xx) or unreachable.",
    labels: { result: "fixed" },
  },
  platform_open_consents_ratio: {
    kind: "gauge",
    help:
      "Share of PLATFORM_MAX_OPEN_CONSENTS that a client uses, if it has used half of it lately. Take the maximum over processes.",
    labels: { client: "bounded" },
  },
  platform_key_set_age_seconds: {
    kind: "gauge",
    help: "Age of the copy of a participant's keys. A copy older than 900 s is not used.",
    labels: { client: "bounded" },
  },
  platform_key_sets_failing: {
    kind: "gauge",
    help: "Key sets that could not be renewed at the last attempt.",
  },
  platform_status_list_age_seconds: {
    kind: "gauge",
    help: "Age of the directory's status list if its last renewal failed, else 0. At 900 s requests get 503.",
  },
  platform_clock_ahead_seconds: { kind: "gauge", help: "This computer's clock minus the directory's." },
  platform_client_certificate_expiry_timestamp_seconds: {
    kind: "gauge",
    help:
      "End of the validity of the transport certificate that a client used last, for a day after its last request.",
    labels: { client: "bounded" },
    among: "lowest",
    keptMs: 86_400_000,
  },
  platform_signing_certificate_expiry_timestamp_seconds: {
    kind: "gauge",
    help: "End of the validity of the certificate of the platform's signing key in use.",
  },
} as const satisfies MetricDeclarations;

const PROCESS = {
  platform_store_duration_seconds: {
    kind: "histogram",
    help: "Time of a call of the store: get, get_many, list or commit.",
    labels: { operation: "fixed" },
    buckets: STORE_BUCKETS,
  },
  platform_store_failures_total: {
    kind: "counter",
    help: "Calls of the store that failed.",
    labels: { operation: "fixed" },
  },
  platform_store_working: { kind: "gauge", help: "1 if the store can be read and written, else 0." },
  platform_store_standby: {
    kind: "gauge",
    help:
      "1 if commits wait for a standby of PostgreSQL, else 0. Absent without PostgreSQL and while unknown.",
  },
  platform_signer_duration_seconds: {
    kind: "histogram",
    help: "Time of a call of the signer, if keys are in a token: keys, sign, decrypt or probe.",
    labels: { operation: "fixed" },
    buckets: STORE_BUCKETS,
  },
  platform_signer_failures_total: {
    kind: "counter",
    help: "Calls of the signer that failed.",
    labels: { operation: "fixed" },
  },
  platform_signer_working: {
    kind: "gauge",
    help: "1 if the signer answers, else 0. Absent if the keys are in a file.",
  },
  platform_background_passes_total: {
    kind: "counter",
    help: "Passes of background jobs by result: ok or failed.",
    labels: { work: "fixed", result: "fixed" },
  },
  platform_security_events_total: {
    kind: "counter",
    help: "Security events by name, as the log has them.",
    labels: { event: "fixed" },
  },
  platform_traces_total: {
    kind: "counter",
    help:
      "Traces of requests by result: written; limited (the caller had too many); dropped (the store did not take them).",
    labels: { result: "fixed" },
  },
  platform_funnel_cases_skipped_total: {
    kind: "counter",
    help:
      "Cases that the funnel did not count because a record cannot be read. The log event is case.not_counted.",
  },
  platform_spans_total: {
    kind: "counter",
    help:
      "OpenTelemetry spans by result: sent; dropped (too many at once, or the collector did not take them).",
    labels: { result: "fixed" },
  },
  platform_figures_dropped_total: {
    kind: "counter",
    help: "Requests and pushes that the reports by day lack, because too many participants had some.",
  },
  platform_log_dropped_lines_total: {
    kind: "counter",
    help: "Log lines dropped because standard output did not take them.",
  },
  platform_connections: { kind: "gauge", help: "Open connections of the listener." },
  platform_connections_limit: { kind: "gauge", help: "PLATFORM_MAX_CONNECTIONS." },
  platform_memory_bytes: {
    kind: "gauge",
    help: "Memory of the process: resident, heap_used or external.",
    labels: { kind: "fixed" },
  },
} as const satisfies MetricDeclarations;

export const PLATFORM_METRICS = { ...REQUESTS, ...ORDERS, ...EVENTS, ...DIRECTORY, ...PROCESS } as const;
export type PlatformMetrics = Metrics<typeof PLATFORM_METRICS>;
export type ReadPlatformSamples = ReadSamples<typeof PLATFORM_METRICS>;

export function openPlatformMetrics(elapsed?: MonotonicClock): PlatformMetrics {
  return openMetrics(PLATFORM_METRICS, elapsed);
}

/** What the probe tells Prometheus. */
import {
  type MetricDeclarations,
  type Metrics,
  openMetrics,
} from "../../../src/base/observability/metrics.ts";

/** The metrics of `deno task probe`. */
export const PROBE_METRICS = {
  platform_probe_payments_total: {
    kind: "counter",
    help: "Payments of the probe since it was started, by result",
    labels: { bank: "bounded", result: "fixed" },
  },
  platform_probe_working: {
    kind: "gauge",
    help: "1 if the probe's last payment was accepted, 0 if not",
    labels: { bank: "bounded" },
  },
  platform_probe_step_seconds: {
    kind: "gauge",
    help: "Duration of each step of the probe's last payment; a failed step is the last one",
    labels: { bank: "bounded", step: "bounded" },
  },
  platform_probe_last_run_timestamp_seconds: {
    kind: "gauge",
    help: "When the probe's last payment ended",
    labels: { bank: "bounded" },
  },
  platform_probe_last_success_timestamp_seconds: {
    kind: "gauge",
    help: "When the probe's last accepted payment ended",
    labels: { bank: "bounded" },
  },
} as const satisfies MetricDeclarations;

/** One payment of the probe. */
export interface ProbeRun {
  readonly bank: string;
  /** In their order; the last one failed if there is a fault. */
  readonly steps: readonly { readonly step: string; readonly seconds: number }[];
  readonly fault?: string | undefined;
  /** When it ended, ms. */
  readonly at: number;
}

/** Opens the metrics. */
export function openProbeMetrics(): Metrics<typeof PROBE_METRICS> {
  return openMetrics(PROBE_METRICS);
}

/** Counts a payment. */
export function countRun(metrics: Metrics<typeof PROBE_METRICS>, { bank, steps, fault, at }: ProbeRun): void {
  const isFine = fault === undefined;
  metrics.count("platform_probe_payments_total", { bank, result: isFine ? "accepted" : "failed" });
  metrics.set("platform_probe_working", { bank }, isFine ? 1 : 0);
  metrics.replace(
    "platform_probe_step_seconds",
    steps.map(({ step, seconds }) => ({ labels: { bank, step }, value: seconds })),
  );
  metrics.set("platform_probe_last_run_timestamp_seconds", { bank }, at / 1000);
  if (isFine) metrics.set("platform_probe_last_success_timestamp_seconds", { bank }, at / 1000);
}

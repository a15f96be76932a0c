/** `GET /operations/metrics`: the metrics of this process for Prometheus. */
import { METRICS_TYPE } from "../../../base/observability/metrics.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationRoute, operationText } from "../http/operation_answers.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { operation } from "./operation.ts";

export interface MetricsRouteDeps {
  readonly metrics: Pick<PlatformMetrics, "text">;
}

const metricsRoute = operationRoute({
  method: "get",
  path: "/operations/metrics",
  operationId: "readMetrics",
  tags: ["State"],
  summary: "The metrics of a process, in the text format of Prometheus",
  description: "Of the process that answers. Counters begin with its start.",
  answers: { 200: operationText("Every metric") },
});

export function metricsRoutes({ metrics }: MetricsRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(
      metricsRoute,
      [],
      async (c) => c.body(await metrics.text(), 200, { "content-type": METRICS_TYPE }),
    ),
  ];
}

/** `GET /operations/metrics`: the metrics of this process for Prometheus. */
import { createRoute } from "@hono/zod-openapi";
import { METRICS_TYPE } from "../../../base/observability/metrics.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationErrors, operationText, OPERATOR_SECURITY } from "../http/operation_answers.ts";
import type { PlatformMetrics } from "../../observed/metrics.ts";
import { operation } from "./operation.ts";

export interface MetricsRouteDeps {
  readonly metrics: Pick<PlatformMetrics, "text">;
}

const metricsRoute = createRoute({
  method: "get",
  path: "/operations/metrics",
  operationId: "readMetrics",
  tags: ["State"],
  security: OPERATOR_SECURITY,
  summary: "The metrics of a process, in the text format of Prometheus",
  description: "Of the process that answers. Counters begin with its start.",
  responses: { 200: operationText("Every metric"), ...operationErrors() },
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

/** `GET /operations/requests`: shows operators how full each lane of the admission control is. */
import { z } from "@hono/zod-openapi";
import type { Admission } from "../http/admission.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationAnswer, operationRoute } from "../http/operation_answers.ts";
import { operation } from "./operation.ts";

export interface RequestLaneRouteDeps {
  readonly lanes: Admission["state"];
}

const laneSchema = z.strictObject({
  Lane: z.string(),
  Places: z.int(),
  InWork: z.int(),
  Waiting: z.int(),
  /** Since the start of the process. */
  RejectedQueueFull: z.int(),
  RejectedAfterWait: z.int(),
});
const lanesSchema = z.strictObject({ Data: z.strictObject({ Lanes: z.array(laneSchema) }) });
const lanesRoute = operationRoute({
  method: "get",
  path: "/operations/requests",
  operationId: "listRequestLanes",
  tags: ["State"],
  summary: "Requests in work, waiting and rejected, by lane",
  description: "Of the process that answers. The counts begin with its start.",
  answers: { 200: operationAnswer("Every lane", lanesSchema) },
});

export function requestLaneRoutes({ lanes }: RequestLaneRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(lanesRoute, [], (c) => {
      const Lanes = Object.entries(lanes()).map(([lane, state]) => ({
        Lane: lane,
        Places: state.places,
        InWork: state.inWork,
        Waiting: state.waiting,
        RejectedQueueFull: state.rejectedFull,
        RejectedAfterWait: state.rejectedLate,
      }));
      return c.json({ Data: { Lanes } });
    }),
  ];
}

/** `GET /operations/requests`: shows the operator how full each lane of the admission control is. */
import { createRoute, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { RequestVariables } from "../../base/http/context.ts";
import type { Admission } from "../http/admission.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { oauthErrors } from "../http/openapi_answers.ts";
import type { OperatorVariables } from "./operator_token.ts";

export interface RequestLaneRouteDeps {
  readonly operator: MiddlewareHandler<{ Variables: RequestVariables & OperatorVariables }>;
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
const lanesRoute = createRoute({
  method: "get",
  path: "/operations/requests",
  hide: true,
  summary: "Operator: requests in work, waiting and rejected, by lane",
  responses: {
    200: {
      description: "Every lane",
      content: {
        "application/json": {
          schema: z.strictObject({ Data: z.strictObject({ Lanes: z.array(laneSchema) }) }),
        },
      },
    },
    ...oauthErrors(401),
  },
});

export function requestLaneRoutes({ operator, lanes }: RequestLaneRouteDeps): readonly PlatformEndpoint[] {
  return [
    endpoint("oauth", "operator", lanesRoute, [operator], (c) => {
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

/** `GET /operations/openapi.json`: the OpenAPI document of the operations API. */
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { operationAnswer, operationRoute } from "../http/operation_answers.ts";
import { operation } from "./operation.ts";

export interface OperationsDocumentDeps {
  /** The OpenAPI 3.1 document, generated from the host's routes. */
  readonly openApi: () => object;
}

const documentRoute = operationRoute({
  method: "get",
  path: "/operations/openapi.json",
  operationId: "getOperationsDocument",
  tags: ["State"],
  summary: "This document",
  description: "OpenAPI 3.1, generated from the routes that answer.",
  answers: { 200: operationAnswer("OpenAPI 3.1", z.looseObject({})) },
});

export function operationsDocumentRoutes({ openApi }: OperationsDocumentDeps): readonly PlatformEndpoint[] {
  let made: object | undefined;
  return [operation(documentRoute, [], (c) => c.json(made ??= openApi()))];
}

/** `POST {base_url}/{BANK}/authorization-results/v1` (contract ARS1): the result of a bank whose customer confirmed elsewhere. */
import { createRoute, z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { mediaType, readBytes, rejectContentCoding } from "../../../base/http/body.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { mismatch } from "../../../base/kernel/result.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { RESULTS_PATH } from "../../config/paths.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { sealedText } from "../../guards/http/jwt_schema.ts";
import { resourceAnswer, resourceErrors } from "../../guards/http/openapi_answers.ts";
import { accessTokenOf, bankParameter, resourceHeaders } from "../../guards/http/openapi_parameters.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { RESULT_JWT } from "../frontchannel/result_jwt_schema.ts";
import { deliverResult, type DeliverResultDeps } from "./deliver_result.ts";
import { bankChecks } from "./routes.ts";

export interface ResultRouteDeps extends DeliverResultDeps {
  readonly guards: ResourceGuards;
}

/** The same for every delivery of the result that counts (contract ARS2). */
const resultAnswerSchema = z.strictObject({
  Data: z.strictObject({ ConsentId: z.uuid(), CorrelationId: z.uuid() }),
}).openapi("AuthorizationResultAnswer");

const route = createRoute({
  method: "post",
  path: RESULTS_PATH,
  tags: ["Back channel"],
  operationId: "deliverAuthorizationResult",
  summary: "Bank: deliver the result of an authorization session",
  description:
    "The result JWT of the customer's return, for a customer who confirmed on another device or returns in another " +
    "browser. The browser that began goes on. Needs `results_on_back_channel` in the software statement.",
  security: accessTokenOf("bank"),
  request: {
    params: bankParameter,
    headers: resourceHeaders,
    body: { required: true, content: { "application/jose": { schema: sealedText(RESULT_JWT) } } },
  },
  responses: {
    200: resourceAnswer("The result counts, delivered for the first time or again", resultAnswerSchema),
    ...resourceErrors(413, 415),
  },
});

/** Check: media type, content coding and size; sets the JWE of the body. */
const sealedBody = createMiddleware<{ Variables: { sealed: string } }>(async function sealedBody(c, next) {
  if (mediaType(c) !== "application/jose") {
    const { fault } = mismatch("Content-Type", "'application/jose'", c.req.header("content-type"));
    throw new ApiError("bank_result.unsupported_media_type", { fault });
  }
  rejectContentCoding(c);
  c.set("sealed", new TextDecoder("latin1").decode(await readBytes(c.req.raw, MAX_BODY_BYTES)).trimEnd());
  await next();
});

export function resultRoutes(deps: ResultRouteDeps): readonly PlatformEndpoint[] {
  const checks = [...bankChecks(deps.guards, () => []), sealedBody] as const;
  return [endpoint("resource", "bank", route, checks, async (c) => {
    const session = await deliverResult(deps, {
      bank: c.get("bank").code,
      sealed: c.get("sealed"),
      reads: c.get("reads"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
    });
    const { consentId: ConsentId, correlationId: CorrelationId } = session;
    return c.json({ Data: { ConsentId, CorrelationId } } satisfies z.infer<typeof resultAnswerSchema>);
  })];
}

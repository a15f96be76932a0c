/** `POST {base_url}/register/v1` (contract EP13), and the routes of a client's own registration. */
import { createRoute, z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { mediaType, readBytes, rejectContentCoding } from "../../../base/http/body.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { oauthAnswer, oauthErrors } from "../../guards/http/openapi_answers.ts";
import { CERTIFICATE, COMPACT_JWS } from "../../guards/http/openapi_parameters.ts";
import { mismatch } from "../../../base/kernel/result.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { REGISTRATION_PATH } from "../../config/paths.ts";
import { MAX_REGISTRATION_JWT_CHARACTERS } from "../../../base/profile.ts";
import { digest } from "../../evidence/digest.ts";
import { authenticationOf } from "../../guards/security/client_certificate.ts";
import type { ClaimVariables } from "../../guards/security/proven_caller.ts";
import type { RegistrationFault } from "./client_metadata.ts";
import { clientRepresentationSchema, representClient } from "./client_representation.ts";
import type { ClientStore } from "./client_store.ts";
import { registerClient, type RegisterClientDeps } from "./register_client.ts";
import { type RegisteredClientRouteDeps, registeredClientRoutes } from "./registered_client_routes.ts";
import { openRegistration, type RegistrationJwtDeps } from "./registration_jwt.ts";

const route = createRoute({
  method: "post",
  path: REGISTRATION_PATH,
  tags: ["Registration"],
  operationId: "registerClient",
  security: CERTIFICATE,
  summary: "Register a client, or update it with a newer software statement",
  description:
    "The body is a compact JWT signed with the participant's signing key. Its claims: docs/contract/registration.md.",
  request: {
    body: {
      required: true,
      content: {
        "application/jose": {
          schema: z.string().openapi({ pattern: COMPACT_JWS, maxLength: MAX_REGISTRATION_JWT_CHARACTERS }),
        },
      },
    },
  },
  responses: {
    201: oauthAnswer("Registered", clientRepresentationSchema),
    ...oauthErrors(400, 401, 405, 413, 415, 429, 500, 503),
  },
});

export interface RegistrationRouteDeps
  extends RegisterClientDeps, RegistrationJwtDeps, RegisteredClientRouteDeps {
  readonly clients: ClientStore;
  readonly baseUrl: string;
}

/** Check: media type, content coding and size; sets the JWT of the body. */
const jwtBody = createMiddleware<{ Variables: { jwt: string } & ClaimVariables }>(
  async function jwtBody(c, next) {
    if (mediaType(c) !== "application/jose") {
      const type = mismatch("Content-Type", "'application/jose'", c.req.header("content-type"));
      throw new ApiError("registration.unsupported_media_type", type);
    }
    rejectContentCoding(c);
    c.set("jwt", decodeText(await readBytes(c.req.raw, MAX_BODY_BYTES)));
    await next();
  },
);

export function registrationRoutes(deps: RegistrationRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit } = deps.guards;
  const checks = [certificate, limit("registration"), jwtBody] as const;
  return [
    endpoint("oauth", "participant", route, checks, async (c) => {
      const request = await openRegistration(
        deps,
        c.get("jwt"),
        (statement) => c.set("registrant", statement),
      );
      if (!request.ok) throw registrationError(request.fault);
      const { statement: { clientId }, kid, jti } = request.value;
      const assertion = { kid, jtiHash: digest(jti) };
      const registration = await registerClient(deps, {
        request: request.value,
        authentication: authenticationOf(c, deps.baseUrl, { clientId, assertion }),
        replayRecords: c.get("replayRecords"),
        interactionId: c.get("interactionId"),
        reads: c.get("reads"),
        limitParticipant: c.get("limitParticipant"),
      });
      return c.json(representClient(registration), 201);
    }),
    ...registeredClientRoutes(deps),
  ];
}

function registrationError(fault: RegistrationFault): ApiError {
  const { reason, description } = fault;
  return new ApiError(reason, { fault, ...(description === undefined ? {} : { description }) });
}

function decodeText(bytes: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(bytes).replace(/\r?\n$/, "");
  if (text.length > MAX_REGISTRATION_JWT_CHARACTERS) throw new ApiError("request.too_large");
  return text;
}

/** `{base_url}/register/v1/{client_id}`: a client reads and deletes its own registration (contract DC18 to DC23, RFC 7592). */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RequestVariables } from "../../../base/http/context.ts";
import { CLIENT_ID, type ClientId } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { emptyResourceAnswer, resourceAnswer, resourceErrors } from "../../guards/http/openapi_answers.ts";
import { accessTokenOf, resourceHeaders } from "../../guards/http/openapi_parameters.ts";
import { REGISTERED_CLIENT_PATH } from "../../config/paths.ts";
import {
  type Access,
  type AccessVariables,
  firstReads,
  type Requirement,
  tokenOfAnotherClient,
} from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import type { Registration } from "./client.ts";
import { clientRepresentationSchema, representClient } from "./client_representation.ts";
import type { ClientStore } from "./client_store.ts";
import { deleteClient, type DeleteClientDeps, goneError } from "./delete_client.ts";

export interface RegisteredClientRouteDeps extends DeleteClientDeps {
  readonly clients: ClientStore;
  readonly guards: ResourceGuards;
}

/** A registration belongs to a client, not to a bank. */
const CLIENT: Requirement = { scope: "any", grants: ["client_credentials"], bank: "any" };
/** Customers and TPPs depend on a bank's registration, so a bank cannot delete it (Decision B7). */
const TPP: Requirement = { ...CLIENT, scope: "payments" };

const common = {
  path: REGISTERED_CLIENT_PATH,
  tags: ["Registration"],
  request: {
    params: z.object({
      clientId: z.string().openapi({
        pattern: CLIENT_ID.source,
        description: "Your own client_id",
      }),
    }),
    headers: resourceHeaders,
  },
};

const readRoute = createRoute({
  ...common,
  method: "get",
  operationId: "getRegisteredClient",
  security: [...accessTokenOf("payments"), ...accessTokenOf("bank")],
  summary: "Read your registration",
  description: "For a token of the client credentials grant, of any bank (RFC 7592 §2.1).",
  responses: { 200: resourceAnswer("The registration", clientRepresentationSchema), ...resourceErrors() },
});

const deleteRoute = createRoute({
  ...common,
  method: "delete",
  operationId: "deleteRegisteredClient",
  security: accessTokenOf("payments"),
  summary: "Delete your registration",
  description:
    "For a token of the client credentials grant, of any bank (RFC 7592 §2.3). Your access tokens end at once, and " +
    "you can start nothing until you register again. Consents and payments remain. A bank cannot delete its own.",
  responses: { 204: emptyResourceAnswer("Deleted"), ...resourceErrors() },
});

export function registeredClientRoutes(deps: RegisteredClientRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit, token } = deps.guards;
  const before = [certificate, limit("registration"), firstReads()] as const;
  return [
    endpoint("resource", "participant", readRoute, [...before, token(CLIENT), fapiHeaders], async (c) => {
      const { clientId } = ownAccess(c).caller;
      return c.json(representClient(await readRegistration(deps.clients, c.get("reads"), clientId)), 200);
    }),
    endpoint("resource", "participant", deleteRoute, [...before, token(TPP), fapiHeaders], async (c) => {
      const { caller: { clientId }, authentication } = ownAccess(c);
      const { replayRecords, interactionId, reads } = c.var;
      await deleteClient(deps, { clientId, authentication, replayRecords, interactionId, reads });
      return c.body(null, 204);
    }),
  ];
}

/** @throws {ApiError} `token.insufficient_scope`, the same whether the other client exists or not */
function ownAccess(c: Context<{ Variables: RequestVariables & AccessVariables }>): Access {
  const access = c.get("access");
  if (c.req.param("clientId") !== access.caller.clientId) throw tokenOfAnotherClient(access.token.scope);
  return access;
}

/** @throws {ApiError} `token.invalid` if a parallel request has deleted it */
async function readRegistration(clients: ClientStore, from: Reader, id: ClientId): Promise<Registration> {
  const [client, softwareStatement] = await Promise.all([
    clients.find(from, id),
    clients.findStatement(from, id),
  ]);
  if (client !== null && softwareStatement !== null) return { client, softwareStatement };
  throw goneError();
}

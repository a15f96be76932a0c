/**
 * `/{BANK}/back-channel-auth/v1/{ConsentId}` (contract EP11, EP12), for banks with a client credentials token of
 * scope `bank`.
 */
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { consentAhead } from "../consents/consent_store.ts";
import { readConsent } from "../consents/read_consent.ts";
import { jsonBody } from "../../../base/http/body.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { PAYER_PATH } from "../../config/paths.ts";
import { bankParameter, resourceRoute, signedHeaders } from "../../guards/http/openapi_parameters.ts";
import {
  type AccessVariables,
  firstReads,
  insufficientToken,
  type KeysOfRequest,
  type Requirement,
} from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import type { BankVariables } from "../../guards/security/standing.ts";
import { signedJson } from "../../guards/security/payload_signature.ts";
import {
  consentDetailsSchema,
  representConsentDetails,
  representPayerAccounts,
} from "./consent_details_representation.ts";
import { payerAccountsSchema } from "./payer_accounts_schema.ts";
import { updatePayerAccounts, type UpdatePayerAccountsDeps } from "./update_payer_accounts.ts";

export interface BackchannelRouteDeps extends UpdatePayerAccountsDeps {
  readonly guards: ResourceGuards;
}

/** The required token of the back channel. */
export const BANK: Requirement = { scope: "bank", grants: ["client_credentials"] };

/**
 * Middleware: the caller must be the bank of the path. It does not rely on the token endpoint, which issues tokens to
 * a bank only at its own address.
 */
export const bankItself = createMiddleware<{ Variables: BankVariables & AccessVariables }>(
  async function bankItself(c, next) {
    if (c.get("access").token.clientId !== c.get("bank").clientId) {
      throw insufficientToken("The access token does not belong to the bank in the path.", "bank");
    }
    await next();
  },
);

const parameters = bankParameter.extend({
  consentId: z.string().openapi({ format: "uuid" }),
});
const tags = ["Back channel"];

const readRoute = resourceRoute({
  method: "get",
  path: PAYER_PATH,
  tags,
  operationId: "getBackChannelConsent",
  summary: "Bank: read a consent",
  description: "The details to show to the customer. Returned for a consent of any status.",
  scopes: ["bank"],
  params: parameters,
  answers: { 200: resourceAnswer("The consent's details", consentDetailsSchema) },
});

const updateRoute = resourceRoute({
  method: "put",
  path: PAYER_PATH,
  tags,
  operationId: "updatePayerAccounts",
  summary: "Bank: report the payer's accounts, or the selected one",
  description:
    "While the authorization session is open. With the platform's consent screen: 1 to 100 accounts; with " +
    "the bank's own: exactly the selected one. The last report counts.",
  scopes: ["bank"],
  params: parameters,
  headers: signedHeaders,
  body: payerAccountsSchema,
  answers: { 200: resourceAnswer("The report as it was received", payerAccountsSchema) },
});

/** The checks of every endpoint of the back channel, before those of a body. */
export function bankChecks(
  { certificate, limit, bank, token }: ResourceGuards,
  keys: KeysOfRequest,
): readonly [
  ResourceGuards["certificate"],
  ReturnType<ResourceGuards["limit"]>,
  ReturnType<typeof firstReads>,
  ResourceGuards["bank"],
  ReturnType<ResourceGuards["token"]>,
  typeof bankItself,
  typeof fapiHeaders,
] {
  return [certificate, limit("back_channel"), firstReads(keys), bank, token(BANK), bankItself, fapiHeaders];
}

export function backchannelRoutes(deps: BackchannelRouteDeps): readonly PlatformEndpoint[] {
  return [readEndpoint(deps), updateEndpoint(deps)];
}

function readEndpoint(deps: BackchannelRouteDeps): PlatformEndpoint {
  const checks = bankChecks(deps.guards, (c) => consentAhead(c.req.param("consentId")));
  return endpoint("resource", "bank", readRoute, checks, async (c) => {
    const by = { bank: c.get("bank").code };
    const { value } = await readConsent(deps, c.get("reads"), c.req.param("consentId"), by);
    return c.json(representConsentDetails(value));
  });
}

function updateEndpoint(deps: BackchannelRouteDeps): PlatformEndpoint {
  const keys: KeysOfRequest = (c) => consentAhead(c.req.param("consentId"));
  return endpoint("resource", "bank", updateRoute, [
    ...bankChecks(deps.guards, keys),
    jsonBody,
    deps.guards.payloadSignature,
    signedJson,
  ], async (c) => {
    const { code, clientId, consentManagedByBank } = c.get("bank");
    const report = await updatePayerAccounts(deps, {
      bank: code,
      bankClientId: clientId,
      consentManagedByBank,
      consentIdText: c.req.param("consentId"),
      json: c.get("json"),
      signedBody: c.get("signedBody"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
      reads: c.get("reads"),
    });
    return c.json(representPayerAccounts(report));
  });
}

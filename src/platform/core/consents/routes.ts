/** `/{BANK}/domestic-payment-consents/v1` (contract EP6 to EP8). */
import { z } from "@hono/zod-openapi";
import { jsonBody } from "../../../base/http/body.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { decoded } from "../../guards/http/decode.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter, idempotentHeaders, resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { claimAhead, type idempotent } from "../../guards/idempotency/idempotent.ts";
import { decodeListQuery, LIST_DESCRIPTION, listParameters } from "../../guards/lists/list_query_schema.ts";
import { CONSENTS_PATH, filledPath } from "../../config/paths.ts";
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import {
  firstReads,
  type KeysOfRequest,
  type Requirement,
  tokenOfAnotherConsent,
} from "../../guards/security/access_token.ts";
import { statementsInForce } from "../../guards/security/caller.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { confirmFunds } from "./consent.ts";
import {
  consentSchema,
  consentsSchema,
  createdConsentSchema,
  fundsConfirmationSchema,
  representConsent,
  representConsents,
  representCreated,
  representFunds,
} from "./consent_representation.ts";
import { consentAhead } from "./consent_store.ts";
import { consentRequestSchema, decodeConsentRequest } from "./consent_schema.ts";
import { createConsent, type CreateConsentDeps } from "./create_consent.ts";
import { CONSENT_STATUSES, listConsents } from "./list_consents.ts";
import type { Supported } from "./initiation_schema.ts";
import { readConsent } from "./read_consent.ts";

export interface ConsentRouteDeps extends CreateConsentDeps, Supported {
  readonly guards: ResourceGuards;
  readonly idempotent: ReturnType<typeof idempotent>;
  readonly baseUrl: string;
  /**
   * Limits requests about one consent.
   *
   * @throws {ApiError} `request.rate_limited`
   */
  readonly limitFunds: (consentId: ConsentId) => Promise<void>;
}

const consentParameter = bankParameter.extend({
  consentId: z.string().openapi({ format: "uuid" }),
});
const TPP: Requirement = { scope: "payments", grants: ["client_credentials"] };
const TPP_OR_CUSTOMER: Requirement = {
  scope: "payments",
  grants: ["client_credentials", "authorization_code"],
};
const tags = ["Consents"];
/** Name of the route in idempotency claims. */
const CONSENT_CLAIMS = "domestic-payment-consents";
const named: KeysOfRequest = (c) => consentAhead(c.req.param("consentId"));

const createConsentRoute = resourceRoute({
  method: "post",
  path: CONSENTS_PATH,
  tags,
  operationId: "createDomesticPaymentConsent",
  summary: "Create a domestic payment consent",
  description:
    "For a token of the client credentials grant. A retry with the same `x-idempotency-key` and body " +
    "within 24 hours returns the same consent with its current status.",
  scopes: ["payments"],
  headers: idempotentHeaders,
  body: consentRequestSchema,
  answers: {
    201: resourceAnswer(
      "Created, now or by an earlier request with the same key and body",
      createdConsentSchema,
    ),
  },
});

const readConsentRoute = resourceRoute({
  method: "get",
  path: `${CONSENTS_PATH}/{consentId}`,
  tags,
  operationId: "getDomesticPaymentConsent",
  summary: "Read a consent",
  description: "For a token of the client credentials grant. The status shows if a deadline has passed.",
  scopes: ["payments"],
  params: consentParameter,
  answers: { 200: resourceAnswer("The consent with its current status", consentSchema) },
});

const listConsentsRoute = resourceRoute({
  method: "get",
  path: CONSENTS_PATH,
  tags,
  operationId: "listDomesticPaymentConsents",
  summary: "List your consents at the bank, oldest first",
  description: `For a token of the client credentials grant. ${LIST_DESCRIPTION}`,
  scopes: ["payments"],
  query: listParameters(CONSENT_STATUSES),
  answers: { 200: resourceAnswer("At most 100 consents with their current statuses", consentsSchema) },
});

const confirmFundsRoute = resourceRoute({
  method: "get",
  path: `${CONSENTS_PATH}/{consentId}/funds-confirmation`,
  tags,
  operationId: "getFundsConfirmation",
  summary: "Ask whether the funds are there",
  description:
    "Only while the consent is `Authorized`; for a token of the client credentials grant, or for the " +
    "token of this consent. Never changes the consent.",
  scopes: ["payments"],
  params: consentParameter,
  answers: { 200: resourceAnswer("The answer", fundsConfirmationSchema) },
});

export function consentRoutes(deps: ConsentRouteDeps): readonly PlatformEndpoint[] {
  return [createEndpoint(deps), listEndpoint(deps), readEndpoint(deps), fundsEndpoint(deps)];
}

function createEndpoint(deps: ConsentRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token, payloadSignature, active } = deps.guards;
  const replay = deps.idempotent(CONSENT_CLAIMS, async (c, consentId) => {
    const { value } = await readConsent(deps, c.get("reads"), consentId, { bank: c.get("bank").code });
    c.get("facts").consentId = value.id;
    return c.json(representCreated(value, deps.baseUrl), 201);
  });
  return endpoint("resource", "participant", createConsentRoute, [
    certificate,
    limit("consents"),
    firstReads(),
    bank,
    token(TPP, claimAhead(CONSENT_CLAIMS)),
    fapiHeaders,
    jsonBody,
    payloadSignature,
    replay,
    active,
    decoded((json) => decodeConsentRequest(json, { ...deps, now: deps.clock() })),
  ], async (c) => {
    const { caller } = c.get("access");
    const { bank, request, signedBody, claim, replayRecords, interactionId, reads } = c.var;
    const consent = await createConsent(deps, {
      clientId: caller.clientId,
      bank: bank.code,
      documents: statementsInForce(caller, bank),
      request,
      signedBody,
      claim,
      replayRecords,
      interactionId,
      reads,
    });
    c.get("facts").consentId = consent.id;
    return c.json(representCreated(consent, deps.baseUrl), 201);
  });
}

function listEndpoint(deps: ConsentRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token } = deps.guards;
  return endpoint("resource", "participant", listConsentsRoute, [
    certificate,
    limit("lists"), // contract LS6
    firstReads(),
    bank,
    token(TPP),
    fapiHeaders,
  ], async (c) => {
    const sent = c.req.queries();
    const query = decodeListQuery(sent, CONSENT_STATUSES);
    const owner = { clientId: c.get("access").caller.clientId, bank: c.get("bank").code };
    const page = await listConsents(deps, c.get("reads"), owner, query);
    return c.json(representConsents(page, `${deps.baseUrl}${filledPath(CONSENTS_PATH, owner)}`, sent));
  });
}

function readEndpoint(deps: ConsentRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token } = deps.guards;
  return endpoint("resource", "participant", readConsentRoute, [
    certificate,
    limit("reads"),
    firstReads(named),
    bank,
    token(TPP),
    fapiHeaders,
  ], async (c) => {
    const owner = { clientId: c.get("access").caller.clientId, bank: c.get("bank").code };
    const { value } = await readConsent(deps, c.get("reads"), c.req.param("consentId"), owner);
    return c.json(representConsent(value, deps.baseUrl));
  });
}

function fundsEndpoint(deps: ConsentRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token } = deps.guards;
  return endpoint("resource", "participant", confirmFundsRoute, [
    certificate,
    limit("reads"),
    firstReads(named),
    bank,
    token(TPP_OR_CUSTOMER),
    fapiHeaders,
  ], async (c) => {
    const { caller, token: granted } = c.get("access");
    const owner = { clientId: caller.clientId, bank: c.get("bank").code };
    const { value } = await readConsent(deps, c.get("reads"), c.req.param("consentId"), owner);
    if (granted.consentId !== undefined && granted.consentId !== value.id) { // Decision C8: this consent's token
      throw tokenOfAnotherConsent();
    }
    await deps.limitFunds(value.id);
    return c.json(representFunds(confirmFunds(value), value, deps.baseUrl, deps.clock()));
  });
}

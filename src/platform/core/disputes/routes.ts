/** `/{BANK}/disputes/v1` (contract DSP1 to DSP5), for a TPP and a bank with a client credentials token. */
import type { Context } from "hono";
import { jsonBody } from "../../../base/http/body.ts";
import { DISPUTE_PATH, DISPUTES_PATH } from "../../config/paths.ts";
import { decoded } from "../../guards/http/decode.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { idempotentHeaders, resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { claimAhead, type idempotent } from "../../guards/idempotency/idempotent.ts";
import { type AccessVariables, firstReads, type Requirement } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import type { BankVariables } from "../../guards/security/standing.ts";
import { paymentParameter } from "../payments/routes.ts";
import type { Dispute } from "./dispute.ts";
import { disputeSchema, representDispute } from "./dispute_representation.ts";
import { decodeDisputeRequest, disputeRequestSchema } from "./dispute_schema.ts";
import { type Disputant, readDispute, statementsOf } from "./read_dispute.ts";
import { takeDisputeStep, type TakeDisputeStepDeps } from "./take_dispute_step.ts";

export interface DisputeRouteDeps extends TakeDisputeStepDeps {
  readonly guards: ResourceGuards;
  readonly idempotent: ReturnType<typeof idempotent>;
}

const PARTICIPANT: Requirement = { scope: "any", grants: ["client_credentials"] };
const CLAIMS = "disputes";
const tags = ["Disputes"];
const scopes = ["payments", "bank"] as const;

const stepRoute = resourceRoute({
  method: "post",
  path: DISPUTES_PATH,
  tags,
  operationId: "takeDisputeStep",
  summary: "Open, answer or withdraw a dispute about your payment",
  description:
    "A payment has one dispute at most. Your statement is signed evidence of the case, and the other party " +
    "gets the event `dispute-changed`. A retry with the same `x-idempotency-key` and body within 24 hours returns the " +
    "dispute as it is.",
  scopes,
  headers: idempotentHeaders,
  body: disputeRequestSchema,
  answers: { 201: resourceAnswer("The dispute after the step", disputeSchema) },
});

const readRoute = resourceRoute({
  method: "get",
  path: DISPUTE_PATH,
  tags,
  operationId: "getDispute",
  summary: "Read the dispute of your payment",
  description: "With the statements of both parties, until when the next step is expected, and the outcome.",
  scopes,
  params: paymentParameter,
  answers: { 200: resourceAnswer("The dispute", disputeSchema) },
});

type Env = { Variables: AccessVariables & BankVariables };

function disputantOf(c: Context<Env>): Disputant {
  const { code: bank, clientId: bankClient } = c.get("bank");
  const { clientId } = c.get("access").caller;
  return { party: clientId === bankClient ? "Bank" : "TPP", clientId, bank };
}

export function disputeRoutes(deps: DisputeRouteDeps): readonly PlatformEndpoint[] {
  return [stepEndpoint(deps), readEndpoint(deps)];
}

function stepEndpoint(deps: DisputeRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token, payloadSignature } = deps.guards;
  const replay = deps.idempotent(CLAIMS, async (c, paymentId) => {
    const dispute = await readDispute(deps, c.get("reads"), paymentId, disputantOf(c as never));
    return c.json(await disputeAnswer(deps, dispute), 201);
  });
  return endpoint("resource", "participant", stepRoute, [
    certificate,
    limit("reads"),
    firstReads(),
    bank,
    token(PARTICIPANT, claimAhead(CLAIMS)),
    fapiHeaders,
    jsonBody,
    payloadSignature,
    replay,
    decoded(decodeDisputeRequest),
  ], async (c) => {
    const { request, signedBody, claim, replayRecords, interactionId, reads } = c.var;
    const command = { request, signedBody, claim, replayRecords, interactionId, reads };
    const dispute = await takeDisputeStep(deps, { by: disputantOf(c as never), ...command });
    Object.assign(c.get("facts"), { paymentId: dispute.paymentId, consentId: dispute.consentId });
    return c.json(await disputeAnswer(deps, dispute), 201);
  });
}

function readEndpoint(deps: DisputeRouteDeps): PlatformEndpoint {
  const { certificate, limit, bank, token } = deps.guards;
  const checks = [certificate, limit("reads"), firstReads(), bank, token(PARTICIPANT), fapiHeaders] as const;
  return endpoint("resource", "participant", readRoute, checks, async (c) => {
    const by = disputantOf(c as never);
    const dispute = await readDispute(deps, c.get("reads"), c.req.param("paymentId"), by);
    return c.json(await disputeAnswer(deps, dispute));
  });
}

async function disputeAnswer(
  { store, baseUrl }: DisputeRouteDeps,
  dispute: Dispute,
): Promise<ReturnType<typeof representDispute>> {
  return representDispute(dispute, await statementsOf(store, dispute), baseUrl);
}

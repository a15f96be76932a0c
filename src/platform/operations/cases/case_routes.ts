/**
 * `/operations/cases/{id}`: the bundle of a consent and its payment, for disputes (contract EV9), and its erasure.
 * `/{BANK}/cases/v1/{id}` (contract EV17, EV18): a participant's own evidence of a case.
 */
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asConsentId, asPaymentId, type ConsentId } from "../../../base/kernel/identifiers.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../../guards/http/operation_answers.ts";
import { operation } from "../../guards/security/operation.ts";
import { operationBody, plainText } from "../../guards/security/operation_body.ts";
import { type BundleDeps, bundleOf, deletionOf } from "./case_bundle.ts";
import { caseSummary, type CaseSummaryDeps, caseSummarySchema } from "./case_representation.ts";
import { eraseCase, type EraseCaseDeps } from "./erase_case.ts";
import { CASE_PATH } from "../../config/paths.ts";
import { readConsent, type ReadConsentDeps } from "../../core/consents/read_consent.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter, resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { firstReads, type Requirement } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";

export type CaseRouteDeps = BundleDeps & EraseCaseDeps & CaseSummaryDeps;

const caseRoute = operationRoute({
  method: "get",
  path: "/operations/cases/{id}",
  operationId: "getCase",
  tags: ["Evidence"],
  summary: "The evidence of a consent and its payment",
  description:
    "One bundle that can be verified without the platform. `id` is a consent's or a payment's. 503 for " +
    "about two seconds after a change, until the log has its entry. Of a case that retention has deleted: " +
    "the entry that says so.",
  request: { params: z.object({ id: z.uuid() }) },
  answers: { 200: operationAnswer("The bundle", z.looseObject({})) },
  errors: [404],
});

const summaryRoute = operationRoute({
  method: "get",
  path: "/operations/cases/{id}/summary",
  operationId: "getCaseSummary",
  tags: ["Evidence"],
  summary: "A case at a glance",
  description:
    "What the payment is and where it stands, its order while no bank has answered it, its history and " +
    "its newest requests. `id` is a consent's or a payment's. Of a deleted case: the entry that says so.",
  request: { params: z.object({ id: z.uuid() }) },
  answers: { 200: operationAnswer("The case", caseSummarySchema) },
  errors: [404],
});

const erasureSchema = dataSchema({ Reason: plainText(10, 500) });
const erasedSchema = dataSchema({ ConsentId: z.uuid(), ErasedAt: z.iso.datetime() });

const erasureRoute = operationRoute({
  method: "post",
  path: "/operations/cases/{id}/erasure",
  operationId: "eraseCase",
  tags: ["Evidence"],
  summary: "Erase the personal data of a case",
  description:
    "Deletes the evidence and the data key of a consent and its payment for ever. The history stays, with the reason. " +
    "`id` is a consent's or a payment's. 409 until both are final and the retention period has passed.",
  request: {
    params: z.object({ id: z.uuid() }),
  },
  body: erasureSchema,
  answers: {
    200: operationAnswer("The case is erased", erasedSchema),
  },
  isProposable: true,
  errors: [404, 409],
});

export function caseRoutes(deps: CaseRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(caseRoute, [], async (c) => {
      const consentId = await consentOf(deps, c.req.param("id"));
      const bundle = await deletionOf(deps, c.req.param("id")) ??
        (consentId === undefined ? null : await bundleOf(deps, consentId));
      if (bundle === null) throw new ApiError("operations.case_unknown");
      if (bundle === "waiting") throw noPlaceYet();
      return c.body(bundle, 200, { "content-type": "application/json" });
    }),
    operation(summaryRoute, [], async (c) => {
      const id = c.req.param("id");
      const summary = await caseSummary(deps, id, await consentOf(deps, id));
      if (summary === null) throw new ApiError("operations.case_unknown");
      return c.json({ Data: summary });
    }),
    operation(erasureRoute, [operationBody(erasureSchema)], async (c) => {
      const consentId = await consentOf(deps, c.req.param("id"));
      if (consentId === undefined) throw new ApiError("operations.case_unknown");
      const { Reason: reason } = c.get("command").Data;
      const erasedAt = await eraseCase(deps, { consentId, actor: c.get("operator"), reason });
      return c.json({ Data: { ConsentId: consentId, ErasedAt: new Date(erasedAt).toISOString() } });
    }),
  ];
}

/** An entry gets its place in the log within this time, usually. */
const RETRY_SECONDS = 2;

function noPlaceYet(): ApiError {
  const detail = "an entry has no place in the evidence log yet";
  return new ApiError("platform.unavailable", { detail, retryAfterSeconds: RETRY_SECONDS });
}

/** Returns the consent of a case, whose id is the consent's or the payment's. */
async function consentOf(
  { payments, store }: Pick<CaseRouteDeps, "payments" | "store">,
  id: string,
): Promise<ConsentId | undefined> {
  const paymentId = asPaymentId(id);
  const payment = paymentId === undefined ? null : await payments.find(store, paymentId);
  return payment?.value.consentId ?? asConsentId(id);
}

interface OwnCaseRouteDeps extends BundleDeps, ReadConsentDeps {
  readonly guards: ResourceGuards;
}

const PARTICIPANT: Requirement = { scope: "any", grants: ["client_credentials"] };

const ownCaseRoute = resourceRoute({
  method: "get",
  path: CASE_PATH,
  tags: ["Evidence"],
  operationId: "getOwnCase",
  summary: "Get the evidence of your own consent and its payment",
  description:
    "One bundle that can be verified without the platform. `caseId` is a consent's or a payment's, of your TPP or at " +
    "your bank. It has the whole history, and the evidence that you have sent or received yourself. 503 for about two " +
    "seconds after a change, until the log has its entry.",
  scopes: ["payments", "bank"],
  params: bankParameter.extend({
    caseId: z.string().openapi({ format: "uuid" }),
  }),
  answers: { 200: resourceAnswer("The bundle", z.looseObject({})) },
});

export function ownCaseRoutes(deps: OwnCaseRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit, bank, token } = deps.guards;
  const checks = [certificate, limit("reads"), firstReads(), bank, token(PARTICIPANT), fapiHeaders] as const;
  return [
    endpoint("resource", "participant", ownCaseRoute, checks, async (c) => {
      const { code, clientId: bankClient } = c.get("bank");
      const { clientId } = c.get("access").caller;
      const isBank = clientId === bankClient;
      const id = await consentOf(deps, c.req.param("caseId"));
      const owner = isBank ? { bank: code } : { bank: code, clientId };
      const { value: consent } = await readConsent(deps, c.get("reads"), id, owner);
      const bundle = await bundleOf(deps, consent.id, isBank ? "bank" : "tpp");
      if (bundle === null) throw new ApiError("resource.not_found");
      if (bundle === "waiting") throw noPlaceYet();
      return c.body(bundle, 200, { "content-type": "application/json" });
    }),
  ];
}

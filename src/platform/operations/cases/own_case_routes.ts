/** `/{BANK}/cases/v1/{id}` (contract EV17, EV18): a participant's own evidence of a case. */
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { CASE_PATH } from "../../config/paths.ts";
import { readConsent, type ReadConsentDeps } from "../../core/consents/read_consent.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { bankParameter, resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { firstReads, type Requirement } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { type BundleDeps, bundleOf } from "./case_bundle.ts";
import { consentOf, noPlaceYet } from "./case_routes.ts";

export interface OwnCaseRouteDeps extends BundleDeps, ReadConsentDeps {
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
    caseId: z.string().openapi({ param: { name: "caseId", in: "path" }, format: "uuid" }),
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

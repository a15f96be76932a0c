/** `POST {base_url}/{BANK}/token.oauth2/v1` and `POST {base_url}/{BANK}/par.oauth2/v1` (contract EP1 to EP3). */
import { createRoute } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { formBody, type FormVariables } from "../../../base/http/body.ts";
import type { RequestVariables } from "../../../base/http/context.ts";
import { goOnAsOrdinary } from "../../guards/http/admission.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { bankParameter, CERTIFICATE, dpopHeader } from "../../guards/http/openapi_parameters.ts";
import { oauthAnswer, oauthErrors } from "../../guards/http/openapi_answers.ts";
import { PUSH_PATH, TOKEN_PATH } from "../../config/paths.ts";
import { asConsentId, type BankCode } from "../../../base/kernel/identifiers.ts";
import { mismatch } from "../../../base/kernel/result.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { authenticationOf, type CertificateVariables } from "../../guards/security/client_certificate.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import { type BankVariables, issuerOf, requireActiveBank } from "../../guards/security/standing.ts";
import type { Caller } from "../../guards/security/caller.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "../../guards/security/client_authentication.ts";
import type { VerifiedProof, VerifyDpopProof } from "../../guards/security/dpop_proof.ts";
import type { ClaimVariables } from "../../guards/security/proven_caller.ts";
import type { LimitVariables, RateLimit } from "../../guards/security/rate_limits.ts";
import type { RejectInOutage } from "../../guards/security/controls_store.ts";
import type { Reader } from "../../../base/store/store.ts";
import { formReads } from "./form_reads.ts";
import { type CodeGrantDeps, grantAuthorizationCode } from "./grant_authorization_code.ts";
import { grantClientCredentials } from "./grant_client_credentials.ts";
import { pushAuthorizationRequest, type PushDeps } from "./push_authorization_request.ts";
import { pushRequestSchema, pushResponseSchema, tokenRequestSchema } from "./token_request_schema.ts";
import { tokenResponseSchema } from "./token_response.ts";

const FORM = "application/x-www-form-urlencoded";

const tokenRoute = createRoute({
  method: "post",
  path: TOKEN_PATH,
  tags: ["Authorization"],
  operationId: "issueAccessToken",
  summary: "Get an access token",
  description:
    "The client authenticates with `private_key_jwt`: `client_assertion` in the form. The token is bound to " +
    "the key of the DPoP proof and to this bank.",
  security: CERTIFICATE,
  request: {
    params: bankParameter,
    headers: dpopHeader,
    body: { required: true, content: { [FORM]: { schema: tokenRequestSchema } } },
  },
  responses: {
    200: oauthAnswer("A DPoP-bound token", tokenResponseSchema),
    ...oauthErrors(400, 401, 404, 405, 413, 415, 429, 500, 503),
  },
});

const pushRoute = createRoute({
  method: "post",
  path: PUSH_PATH,
  tags: ["Authorization"],
  operationId: "pushAuthorizationRequest",
  summary: "Push an authorization request",
  description:
    "The client authenticates with `private_key_jwt`. The answer's `request_uri` starts the authorization " +
    "session in the customer's browser (RFC 9126).",
  security: CERTIFICATE,
  request: {
    params: bankParameter,
    headers: dpopHeader.partial(),
    body: { required: true, content: { [FORM]: { schema: pushRequestSchema } } },
  },
  responses: {
    201: oauthAnswer("Stored", pushResponseSchema),
    ...oauthErrors(400, 401, 404, 405, 413, 415, 429, 500, 503),
  },
});

export interface OAuthRouteDeps extends CodeGrantDeps, PushDeps, ClientAuthenticationDeps {
  /** Throws for TPPs while the bank is not reconciled after a restore. */
  readonly rejectWhileHeld: (from: Reader, bank: BankCode) => Promise<void>;
  readonly rejectInOutage: RejectInOutage;
  readonly verifyDpop: VerifyDpopProof;
  readonly certificate: MiddlewareHandler<{ Variables: RequestVariables & CertificateVariables }>;
  readonly limit: RateLimit["guard"];
  readonly bank: MiddlewareHandler<{ Variables: RequestVariables & BankVariables }>;
  readonly baseUrl: string;
  readonly authUrl: string;
}

interface OAuthEnv {
  Variables:
    & RequestVariables
    & CertificateVariables
    & LimitVariables
    & BankVariables
    & FormVariables
    & ClaimVariables
    & {
      codeHash?: string;
      /** Set by {@link authenticate}. */
      caller: Caller;
      /** For the history of what the request changes. */
      authentication: Authentication;
      /** The verified DPoP proof, if the request needs one. */
      proof?: VerifiedProof;
    };
}
type OAuthContext = Context<OAuthEnv>;

export function oauthRoutes(deps: OAuthRouteDeps): readonly PlatformEndpoint[] {
  return [tokenEndpoint(deps), pushEndpoint(deps)];
}

function tokenEndpoint(deps: OAuthRouteDeps): PlatformEndpoint {
  return endpoint("oauth", "approved", tokenRoute, [
    deps.certificate,
    deps.limit("authorization"),
    formBody,
    codesFirst,
    formAhead,
    deps.bank,
    authenticate(deps, (c) => isGrant(c.get("form").get("grant_type"))),
  ], async (c) => {
    const form = c.get("form");
    const grantType = form.get("grant_type");
    if (grantType === undefined) {
      throw new ApiError("oauth.invalid_request", { description: "grant_type is required.", ...WRONG_GRANT });
    }
    const proof = c.get("proof");
    if (proof === undefined) {
      throw new ApiError("oauth.unsupported_grant_type", mismatch("grant_type", GRANTS, grantType));
    }
    const grant = grantType === "client_credentials" ? grantClientCredentials : grantAuthorizationCode;
    return c.json(
      await grant(deps, {
        caller: c.get("caller"),
        authentication: c.get("authentication"),
        bank: c.get("bank").code,
        form,
        proof,
        replayRecords: c.get("replayRecords"),
        interactionId: c.get("interactionId"),
        reads: c.get("reads"),
        codeHash: c.get("codeHash"),
      }),
    );
  });
}

const GRANTS = "'client_credentials' or 'authorization_code'";
const WRONG_GRANT = { fault: { at: "grant_type", expected: GRANTS } };

function isGrant(grantType: string | undefined): boolean {
  return grantType === "client_credentials" || grantType === "authorization_code";
}

function pushEndpoint(deps: OAuthRouteDeps): PlatformEndpoint {
  return endpoint("oauth", "participant", pushRoute, [
    deps.certificate,
    deps.limit("authorization"),
    formBody,
    formAhead,
    deps.bank,
    authenticate(deps, (c) => c.req.header("dpop") !== undefined),
  ], async (c) => {
    const proof = c.get("proof");
    await deps.rejectInOutage(c.get("bank").code);
    const consentId = asConsentId(c.get("form").get("consent_id"));
    if (consentId !== undefined) c.get("facts").consentId = consentId;
    const pushed = await pushAuthorizationRequest(deps, {
      clientId: c.get("caller").clientId,
      authentication: c.get("authentication"),
      bank: c.get("bank").code,
      form: c.get("form"),
      replayRecords: c.get("replayRecords"),
      interactionId: c.get("interactionId"),
      reads: c.get("reads"),
      ...(proof === undefined ? {} : { proof }),
    });
    return c.json(pushed, 201);
  });
}

/**
 * Middleware: a token request is admitted as one that completes a payment, because the grant is in its body. Without
 * a code it continues as an ordinary request.
 *
 * @throws {ApiError} `platform.overloaded`
 */
const codesFirst = createMiddleware<OAuthEnv>(async function codesFirst(c, next) {
  if (c.get("form").get("grant_type") !== "authorization_code") await goOnAsOrdinary();
  await next();
});

/** Middleware that prefetches the entries that the form names. It never rejects a request. */
const formAhead = createMiddleware<OAuthEnv>(async function prefetch(c, next) {
  const { keys, codeHash } = await formReads(c.req.param("bank"), c.get("form"));
  if (codeHash !== undefined) c.set("codeHash", codeHash);
  c.get("reads").ahead(keys);
  await next();
});

/**
 * Check: authenticates the client, and verifies its proof if the request needs one. Both signatures are verified in
 * parallel, after the cheap checks of the client. The participant's rate limit, the bank and its hold are checked once
 * the client is known.
 */
function authenticate(
  deps: OAuthRouteDeps,
  needsProof: (c: OAuthContext) => boolean,
): MiddlewareHandler<OAuthEnv> {
  return createMiddleware<OAuthEnv>(async function clientAuthentication(c, next) {
    const presented = {
      form: c.get("form"),
      authorization: c.req.header("authorization"),
      certificate: c.get("certificate"),
      issuer: issuerOf(deps.authUrl, c.get("bank").code),
      reads: c.get("reads"),
    };
    c.set("clientClaim", { by: "client_id", clientId: presented.form.get("client_id") });
    const identified = await identifyClient(deps, presented);
    const proving = needsProof(c) ? prove(deps, c) : undefined;
    proving?.catch(() => {}); // the rejection of the client comes first
    const { caller, assertion } = await authenticateClient(
      deps,
      c.get("replayRecords"),
      presented,
      identified,
    );
    await c.get("limitParticipant")(caller);
    await requireActiveBank(deps.standingOf, c.get("bank"));
    if (caller.role === "PISP") await deps.rejectWhileHeld(c.get("reads"), c.get("bank").code);
    c.set("caller", caller);
    c.set("authentication", authenticationOf(c, deps.baseUrl, { clientId: caller.clientId, assertion }));
    if (proving !== undefined) {
      const proof = await proving;
      c.get("replayRecords").pending.push(proof.once);
      c.set("proof", proof);
    }
    await next();
  });
}

function prove(deps: OAuthRouteDeps, c: OAuthContext): Promise<VerifiedProof> {
  return deps.verifyDpop({
    header: c.req.header("dpop"),
    method: c.req.method,
    url: deps.baseUrl + new URL(c.req.url).pathname,
  });
}

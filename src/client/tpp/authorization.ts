/**
 * The OAuth part of a payment: client credentials, pushed authorization request, the customer's return, and the code
 * exchange, according to FAPI 2.0 (contract EP1 to EP4). Stateless: the caller stores the pending authorization until
 * the customer returns.
 */
import * as oauth from "oauth4webapi";
import { requireBound } from "../party/client_authentication.ts";
import { UntrustedMessage } from "../party/errors.ts";
import type { PaymentFlow } from "./payment_journey.ts";

/** A DPoP-bound access token. */
export interface AccessToken {
  readonly value: string;
  readonly expiresInSeconds: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** A pending authorization. `state` and `codeVerifier` are used only for it. */
export interface PendingAuthorization {
  readonly state: string;
  readonly codeVerifier: string;
  readonly requestUri: string;
  readonly expiresInSeconds: number;
  /** The URL to which the customer's browser is redirected. */
  readonly url: string;
}

/** A customer's return that was meant for this authorization and contains a code. */
export type CheckedCallback = ReturnType<typeof oauth.validateAuthResponse>;

const scope = "payments";

/** Contract EP1: a token to create and read consents. */
export async function grantClientToken(flow: PaymentFlow): Promise<AccessToken> {
  const { server, client, authenticate } = flow;
  const response = await oauth.clientCredentialsGrantRequest(server, client, authenticate, { scope }, {
    DPoP: flow.dpop,
    [oauth.customFetch]: flow.fetch,
  });
  return accessToken(flow, await oauth.processClientCredentialsResponse(server, client, response));
}

/** Contract EP3: announces the authorization, bound to PKCE and to this payment's DPoP key. */
export async function pushAuthorization(
  flow: PaymentFlow,
  consentId: string,
  uiLocales?: string,
): Promise<PendingAuthorization> {
  const { server, client, authenticate, tpp } = flow;
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const parameters = {
    response_type: "code",
    redirect_uri: tpp.redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    consent_id: consentId,
    scope,
    state,
    dpop_jkt: await flow.dpop.calculateThumbprint(), // RFC 9449 §10: the code is useless without this key
    ...(uiLocales === undefined ? {} : { ui_locales: uiLocales }),
  };
  const response = await oauth.pushedAuthorizationRequest(server, client, authenticate, parameters, {
    [oauth.customFetch]: flow.fetch,
  });
  const pushed = await oauth.processPushedAuthorizationResponse(server, client, response);
  const url = authorizationUrl(flow, pushed.request_uri);
  return { state, codeVerifier, requestUri: pushed.request_uri, expiresInSeconds: pushed.expires_in, url };
}

/**
 * Checks the customer's return: `iss` (RFC 9207), `state`, each parameter once.
 * @throws {oauth.AuthorizationResponseError} if the return is authentic and reports an error.
 * @throws {oauth.OperationProcessingError | UntrustedMessage} if it was not meant for this authorization: do not use it.
 */
export function checkCallback(
  flow: PaymentFlow,
  pending: PendingAuthorization,
  callback: URL,
): CheckedCallback {
  const checked = oauth.validateAuthResponse(flow.server, flow.client, callback, pending.state);
  if (!checked.get("code")) throw new UntrustedMessage("The return carries neither a code nor an error");
  return checked;
}

/** Contract EP2: exchanges the code for the token that submits the payment. */
export async function exchangeCode(
  flow: PaymentFlow,
  pending: PendingAuthorization,
  callback: CheckedCallback,
): Promise<AccessToken> {
  const { server, client, authenticate, tpp } = flow;
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authenticate,
    callback,
    tpp.redirectUri,
    pending.codeVerifier,
    { DPoP: flow.dpop, [oauth.customFetch]: flow.fetch },
  );
  return accessToken(flow, await oauth.processAuthorizationCodeResponse(server, client, response));
}

function authorizationUrl(flow: PaymentFlow, requestUri: string): string {
  const endpoint = flow.server.authorization_endpoint;
  if (endpoint === undefined) throw new UntrustedMessage("The bank's metadata has no authorization endpoint");
  const url = new URL(endpoint);
  url.searchParams.set("client_id", flow.client.client_id);
  url.searchParams.set("request_uri", requestUri);
  return url.href;
}

function accessToken(flow: PaymentFlow, answer: oauth.TokenEndpointResponse): AccessToken {
  requireBound(answer, scope);
  const expiresInSeconds = answer.expires_in ?? 0;
  return {
    value: answer.access_token,
    expiresInSeconds,
    expiresAt: flow.tpp.now() + expiresInSeconds * 1000,
  };
}

/**
 * Pushed authorization requests (contract EP3; RFC 9126). All faults are rejected here, before the browser is
 * involved.
 */
import type { BankCode, ClientId, ConsentId } from "../../base/kernel/identifiers.ts";
import { asConsentId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { MAX_STATE_CHARACTERS, REQUEST_URI_SECONDS } from "../profile.ts";
import type { Client } from "../registration/client.ts";
import type { VerifiedProof } from "../security/dpop_proof.ts";
import type { Reader } from "../../base/store/store.ts";
import { type RequestState, transact, type TransactDeps } from "../../base/store/transaction.ts";
import type { AuthorizationCodeStore } from "./authorization_code_store.ts";
import { isSha256Text } from "./pkce.ts";
import type { PushedRequest } from "./pushed_request.ts";
import type { PushedRequestStore } from "./pushed_request_store.ts";
import { requireScope } from "./scope.ts";
import { readUiLocales } from "./ui_locales.ts";

export interface PushDeps extends TransactDeps {
  readonly requests: PushedRequestStore;
  readonly codes: AuthorizationCodeStore;
  readonly findClient: (from: Reader, clientId: ClientId) => Promise<Client | null>;
  /** Whether this client's consent at this bank awaits authorisation. */
  readonly awaitsAuthorisation: (
    from: Reader,
    consent: ConsentId,
    owner: { readonly clientId: ClientId; readonly bank: BankCode },
  ) => Promise<boolean>;
}

/** A request of an authenticated client. `proof` is set if it sent a `DPoP` header. */
export interface Push extends RequestState {
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly form: ReadonlyMap<string, string>;
  readonly proof?: VerifiedProof;
}

type Requested = Omit<PushedRequest, "expiresAt" | "completed">;

const VISIBLE = /^[\x20-\x7e]+$/; // RFC 6749 App. A.5: 1*VSCHAR

/**
 * Stores the request.
 *
 * @throws {ApiError} `oauth.*`
 */
export async function pushAuthorizationRequest(
  deps: PushDeps,
  push: Push,
): Promise<{ readonly request_uri: string; readonly expires_in: number }> {
  return await transact(deps, { what: "pushed request", request: push }, async (tx) => {
    const client = await deps.findClient(tx, push.clientId);
    if (client === null) throw new ApiError("client.not_authenticated", "client is gone");
    const requested = readRequest(push, client);
    if (!await deps.awaitsAuthorisation(tx, requested.consentId, push)) {
      throw invalid("consent_id is not a consent of this client that awaits authorisation.");
    }
    if (await deps.codes.isChallengeSpent(tx, requested, deps.clock())) {
      throw invalid("code_challenge was used before.");
    }
    const requestUri = await deps.requests.stage(tx, requested, deps.clock());
    return { request_uri: requestUri, expires_in: REQUEST_URI_SECONDS };
  });
}

function readRequest({ form, clientId, bank, proof }: Push, client: Client): Requested {
  rejectForeignParameters(form);
  if (client.role !== "PISP") throw new ApiError("oauth.unauthorized_client");
  requireScope(form.get("scope"), client, bank);
  const redirectUri = form.get("redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) { // FAPI 2.0 §5.3.2.2 item 6: exact match
    throw invalid("redirect_uri is missing or not registered.");
  }
  const codeChallenge = readChallenge(form);
  const dpopJkt = readBinding(form.get("dpop_jkt"), proof);
  const state = form.get("state");
  if (state !== undefined && (state.length > MAX_STATE_CHARACTERS || !VISIBLE.test(state))) {
    throw invalid("state is malformed.");
  }
  const consentId = asConsentId(form.get("consent_id"));
  if (consentId === undefined) {
    throw invalid("consent_id is not a consent of this client that awaits authorisation.");
  }
  const uiLocales = readUiLocales(form.get("ui_locales"));
  return {
    clientId,
    bank,
    consentId,
    redirectUri,
    codeChallenge,
    ...(state === undefined ? {} : { state }),
    ...(dpopJkt === undefined ? {} : { dpopJkt }),
    ...(uiLocales.length === 0 ? {} : { uiLocales }),
  };
}

function rejectForeignParameters(form: ReadonlyMap<string, string>): void {
  if (form.has("request_uri")) throw invalid("request_uri is not allowed here."); // RFC 9126 §2.1
  if (form.has("request")) throw invalid("Request objects are not supported."); // not ignored silently
  const responseMode = form.get("response_mode");
  if (responseMode !== undefined && responseMode !== "query") {
    throw invalid("Only response_mode query is supported.");
  }
  const responseType = form.get("response_type");
  if (responseType === undefined) throw invalid("response_type is required.");
  if (responseType !== "code") throw new ApiError("oauth.unsupported_response_type");
}

function readChallenge(form: ReadonlyMap<string, string>): string {
  const challenge = form.get("code_challenge");
  if (challenge === undefined || !isSha256Text(challenge)) {
    throw invalid("code_challenge is missing or malformed.");
  }
  // RFC 7636 §4.3: absent means plain, which is not supported.
  if (form.get("code_challenge_method") !== "S256") throw invalid("code_challenge_method must be S256.");
  return challenge;
}

/** RFC 9449 §10.1: `dpop_jkt` and a `DPoP` header both bind the code. Different keys are rejected (Decision B2). */
function readBinding(dpopJkt: string | undefined, proof: VerifiedProof | undefined): string | undefined {
  if (dpopJkt !== undefined && !isSha256Text(dpopJkt)) throw invalid("dpop_jkt is malformed.");
  if (dpopJkt !== undefined && proof !== undefined && dpopJkt !== proof.jkt) {
    throw invalid("dpop_jkt is not the thumbprint of the DPoP proof's key.");
  }
  return dpopJkt ?? proof?.jkt;
}

function invalid(description: string): ApiError {
  return new ApiError("oauth.invalid_request", { detail: description, description });
}

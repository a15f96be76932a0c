/**
 * Pushed authorization requests (contract EP3; RFC 9126). All faults are rejected here, before the browser is
 * involved.
 */
import {
  asConsentId,
  type BankCode,
  type ClientId,
  type ConsentId,
} from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { describedMismatch, type Failure, mismatch, quote } from "../../../base/kernel/result.ts";
import {
  MAX_CONSENT_RACES,
  MAX_REQUESTED_STEPS,
  MAX_STATE_CHARACTERS,
  REQUEST_URI_SECONDS,
} from "../../../base/profile.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import type { Client } from "../registration/client.ts";
import type { VerifiedProof } from "../../guards/security/dpop_proof.ts";
import type { Reader } from "../../../base/store/store.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import { isChallengeSpent } from "./authorization_code_store.ts";
import { isSha256Text } from "./pkce.ts";
import { type PushedRequest, readUiLocales } from "./pushed_request.ts";
import { stagePushedRequest } from "./pushed_request_store.ts";
import { requireScope } from "./token_response.ts";

export interface PushDeps extends TransactDeps {
  readonly findClient: (from: Reader, clientId: ClientId) => Promise<Client | null>;
  readonly consents: Pick<ConsentStore, "find" | "stageNote">;
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
  readonly authentication: Authentication;
}

type Requested = Omit<PushedRequest, "expiresAt" | "completed" | "sessions">;

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
  const options = { what: "pushed request", attempts: MAX_CONSENT_RACES };
  return await transactFor(deps, push, options, async (tx) => {
    const client = await deps.findClient(tx, push.clientId);
    if (client === null) throw new ApiError("client.not_authenticated", "client is gone");
    const requested = readRequest(push, client);
    if (!await deps.awaitsAuthorisation(tx, requested.consentId, push)) {
      throw unusableConsent(requested.consentId);
    }
    if (await isChallengeSpent(tx, requested, deps.clock())) {
      const fresh = describedMismatch(
        "code_challenge",
        "new for each authorization",
        "one that has led to a code",
      );
      throw invalid("code_challenge was used before.", fresh);
    }
    await rejectTooMany(deps, tx, requested.consentId);
    const now = deps.clock();
    const requestUri = await stagePushedRequest(tx, requested, now);
    await deps.consents.stageNote(tx, requested.consentId, {
      at: now,
      event: "consent.authorization_requested",
      actor: push.clientId,
      evidence: [{ kind: "pushed_request", bytes: acceptedForm(push.form, requested) }],
      authentication: push.authentication,
    });
    return { request_uri: requestUri, expires_in: REQUEST_URI_SECONDS };
  });
}

/** @throws {ApiError} `oauth.invalid_request` if the consent has had too many authorization requests (contract EN1) */
async function rejectTooMany({ consents }: PushDeps, tx: Reader, consentId: ConsentId): Promise<void> {
  const consent = await consents.find(tx, consentId);
  if ((consent?.value.sequence ?? 0) < MAX_REQUESTED_STEPS) return;
  const expected = `of a consent with fewer than ${MAX_REQUESTED_STEPS} recorded steps: create another one`;
  throw invalid("The consent was requested too often.", mismatch("consent_id", expected, consentId));
}

/** Each has a length that its check bounds. The client's assertion is a credential until it expires. */
const KEPT: ReadonlySet<string> = new Set([
  "client_id",
  "response_type",
  "redirect_uri",
  "code_challenge",
  "code_challenge_method",
  "consent_id",
  "state",
  "dpop_jkt",
]);

/** Returns the parameters that count, as a form, for the history. */
function acceptedForm(form: ReadonlyMap<string, string>, { uiLocales }: Requested): Uint8Array {
  const kept = [...form].filter(([name]) => KEPT.has(name)).concat([["scope", "payments"]]);
  if (uiLocales !== undefined) kept.push(["ui_locales", uiLocales.join(" ")]);
  return new TextEncoder().encode(new URLSearchParams(kept).toString());
}

function readRequest({ form, clientId, bank, proof }: Push, client: Client): Requested {
  rejectForeignParameters(form);
  if (client.role !== "PISP") throw new ApiError("oauth.unauthorized_client");
  requireScope(form.get("scope"), client, bank);
  const redirectUri = form.get("redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) { // contract FAPI-D13: exact match
    const registered = client.redirectUris.map(quote).join(" or ");
    const why = mismatch("redirect_uri", `one that you have registered: ${registered}`, redirectUri);
    throw invalid("redirect_uri is missing or not registered.", why);
  }
  const codeChallenge = readChallenge(form);
  const dpopJkt = readBinding(form.get("dpop_jkt"), proof);
  const state = form.get("state");
  if (state !== undefined && (state.length > MAX_STATE_CHARACTERS || !VISIBLE.test(state))) {
    const expected = `1 to ${MAX_STATE_CHARACTERS} printable ASCII characters`;
    throw invalid("state is malformed.", mismatch("state", expected, state));
  }
  const consentId = asConsentId(form.get("consent_id"));
  if (consentId === undefined) throw unusableConsent(form.get("consent_id"));
  const uiLocales = readUiLocales(form.get("ui_locales"));
  return {
    clientId,
    registration: client.registration,
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
  if (form.has("request_uri")) { // RFC 9126 §2.1
    throw invalid("request_uri is not allowed here.", mismatch("request_uri", "absent"));
  }
  if (form.has("request")) { // not ignored silently
    const expected = "absent: send its claims as form parameters";
    throw invalid("Request objects are not supported.", mismatch("request", expected));
  }
  const responseMode = form.get("response_mode");
  if (responseMode !== undefined && responseMode !== "query") {
    const fault = mismatch("response_mode", "'query' or absent", responseMode);
    throw invalid("Only response_mode query is supported.", fault);
  }
  const responseType = form.get("response_type");
  const fault = mismatch("response_type", "'code'", responseType);
  if (responseType === undefined) throw invalid("response_type is required.", fault);
  if (responseType !== "code") throw new ApiError("oauth.unsupported_response_type", fault);
}

function readChallenge(form: ReadonlyMap<string, string>): string {
  const challenge = form.get("code_challenge");
  if (challenge === undefined || !isSha256Text(challenge)) {
    throw invalid(
      "code_challenge is missing or malformed.",
      mismatch("code_challenge", THUMBPRINT, challenge),
    );
  }
  const method = form.get("code_challenge_method");
  if (method !== "S256") { // RFC 7636 §4.3: absent means plain, which is not supported.
    const fault = mismatch("code_challenge_method", "'S256'", method);
    throw invalid("code_challenge_method must be S256.", fault);
  }
  return challenge;
}

/** RFC 9449 §10.1: `dpop_jkt` and a `DPoP` header both bind the code. Different keys are rejected (Decision B2). */
function readBinding(dpopJkt: string | undefined, proof: VerifiedProof | undefined): string | undefined {
  if (dpopJkt !== undefined && !isSha256Text(dpopJkt)) {
    throw invalid("dpop_jkt is malformed.", mismatch("dpop_jkt", THUMBPRINT, dpopJkt));
  }
  if (dpopJkt !== undefined && proof !== undefined && dpopJkt !== proof.jkt) {
    const expected = `${quote(proof.jkt)} (the thumbprint of the DPoP proof's key)`;
    const fault = mismatch("dpop_jkt", expected, dpopJkt);
    throw invalid("dpop_jkt is not the thumbprint of the DPoP proof's key.", fault);
  }
  return dpopJkt ?? proof?.jkt;
}

const THUMBPRINT = "a SHA-256 hash in base64url: 43 characters without padding";

/** One answer for every consent that cannot be used, so that it tells nothing about others' consents. */
function unusableConsent(consentId: string | undefined): ApiError {
  const expected = "the ConsentId of a consent that you created at this bank and that awaits authorisation";
  return invalid(
    "consent_id is not a consent of this client that awaits authorisation.",
    mismatch("consent_id", expected, consentId),
  );
}

/** @param description for a caller whose certificate is not proven */
function invalid(description: string, { fault }: Failure): ApiError {
  return new ApiError("oauth.invalid_request", { detail: description, description, fault });
}

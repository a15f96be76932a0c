/**
 * The authorization code grant (contract EP2). Redemption and token are one commit. A wrong attempt of the code's own
 * client does not use up the code, but five do. A second redemption with correct parameters revokes the first token
 * (contract TA7-TA9).
 */
import { type BankCode, type ClientId, type ConsentId, sha256 } from "../../../base/kernel/identifiers.ts";
import { currentFacts } from "../../../base/http/context.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { transactFor, type Transaction } from "../../../base/store/transaction.ts";
import { type AuthorizationCode, isRedeemable } from "./authorization_code.ts";
import { findCode, stageCodeChange } from "./authorization_code_store.ts";
import type { ConsentStore } from "../consents/consent_store.ts";
import type { GrantDeps, TokenRequest } from "./grant_client_credentials.ts";
import { describedMismatch, type Failure, mismatch, quote } from "../../../base/kernel/result.ts";
import { CODE_SECONDS, MAX_CODE_FAILURES } from "../../../base/profile.ts";
import { otherProofKey } from "../../guards/security/access_token.ts";
import { matchesChallenge } from "./pkce.ts";
import { tokenResponse } from "./token_response.ts";

export interface CodeGrantDeps extends GrantDeps {
  readonly consents: Pick<ConsentStore, "find" | "stageNote">;
  /** Whether the consent is currently `Authorized` (contract TA12). */
  readonly isConsentAuthorized: (
    from: Reader,
    consent: ConsentId,
    owner: { readonly clientId: ClientId; readonly bank: BankCode },
  ) => Promise<boolean>;
}

interface Redemption {
  readonly code: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
}

/**
 * Redeems a code.
 *
 * @throws {ApiError} `oauth.invalid_request`, `oauth.invalid_grant`, `dpop.key_mismatch`
 */
export async function grantAuthorizationCode(
  deps: CodeGrantDeps,
  request: TokenRequest,
): Promise<ReturnType<typeof tokenResponse>> {
  const redemption = readRedemption(request.form);
  const codeHash = request.codeHash ?? await sha256(redemption.code);
  const redeemed = await transactFor<string | ApiError>(deps, request, { what: "code" }, async (tx) => {
    const entry = await findCode(tx, codeHash);
    if (entry === null) throw unusableCode("unknown code");
    noteConsent(entry.value, request);
    return await redeem(deps, tx, { request, redemption, entry, codeHash });
  });
  if (redeemed instanceof ApiError) throw redeemed;
  return tokenResponse(redeemed, "payments");
}

/** Another client's code leads to no consent of this client. */
function noteConsent({ clientId, consentId }: AuthorizationCode, { caller }: TokenRequest): void {
  const facts = currentFacts();
  if (facts !== undefined && clientId === caller.clientId) facts.consentId = consentId;
}

function readRedemption(form: ReadonlyMap<string, string>): Redemption {
  const code = form.get("code");
  const redirectUri = form.get("redirect_uri");
  if (code === undefined || redirectUri === undefined) {
    const fault = code === undefined
      ? { at: "code", expected: "the code of the redirect to your redirect_uri" }
      : { at: "redirect_uri", expected: "the one of the pushed request" };
    const description = "code and redirect_uri are required.";
    throw new ApiError("oauth.invalid_request", { description, fault });
  }
  return { code, redirectUri, codeVerifier: form.get("code_verifier") };
}

interface Attempt {
  readonly request: TokenRequest;
  readonly redemption: Redemption;
  readonly entry: Entry<AuthorizationCode>;
  readonly codeHash: string;
}

/**
 * Makes one attempt on one version of the code. Returns the token, or the rejection that takes effect with the commit.
 *
 * @throws {ApiError} a rejection that changes no state
 */
async function redeem(deps: CodeGrantDeps, tx: Transaction, attempt: Attempt): Promise<string | ApiError> {
  const { request, redemption, entry } = attempt;
  const code = entry.value;
  const wrong = await findFault(request, redemption, code);
  if (code.redeemedFor !== undefined) { // contract FAPI-D12
    // RFC 6749 §4.1.2: only an otherwise correct request may revoke the token. Otherwise knowing the code would be
    // enough.
    if (wrong !== undefined) throw wrong;
    await revoke(deps, tx, attempt, code.redeemedFor);
    return new ApiError("oauth.invalid_grant", { ...REDEEMED, security: "security.code_reuse" });
  }
  if (!isRedeemable(code, deps.clock())) throw wrong ?? invalidGrant(LATE);
  if (wrong !== undefined) {
    // Another client must not be able to use up the code. Its guesses are limited by its rate limit and the code's 60
    // s.
    if (!isOwn(code, request)) throw wrong;
    stageCodeChange(tx, entry, { ...code, failures: code.failures + 1 });
    return wrong;
  }
  if (!await deps.isConsentAuthorized(tx, code.consentId, code)) {
    throw invalidGrant(mismatch("the consent of the code", "Authorized"));
  }
  const token = await deps.tokens.stageIssue(tx, {
    clientId: code.clientId,
    registration: request.caller.registration,
    bank: code.bank,
    scope: "payments",
    grant: "authorization_code",
    consentId: code.consentId,
    jkt: request.proof.jkt,
  });
  stageCodeChange(tx, entry, { ...code, redeemedFor: token.hash });
  await stageNote(deps, tx, attempt, "consent.token_issued", token.hash);
  return token.text;
}

/** A repetition finds the token revoked and has no further effect. */
async function revoke(deps: CodeGrantDeps, tx: Transaction, attempt: Attempt, token: string): Promise<void> {
  if (await deps.tokens.find(tx, token) === null) return;
  deps.tokens.stageRevocation(tx, token);
  await stageNote(deps, tx, attempt, "consent.token_revoked", token);
}

async function stageNote(
  deps: CodeGrantDeps,
  tx: Transaction,
  { request: { caller, authentication }, entry, codeHash: code }: Attempt,
  event: string,
  token: string,
): Promise<void> {
  const { consentId } = entry.value;
  const issued = { code, token };
  await deps.consents.stageNote(tx, consentId, {
    at: deps.clock(),
    event,
    actor: caller.clientId,
    issued,
    authentication,
  });
}

/** Whether this registration of the client has pushed the request of the code (contract DC23). */
function isOwn(code: AuthorizationCode, { caller }: TokenRequest): boolean {
  return code.clientId === caller.clientId && code.registration === caller.registration;
}

async function findFault(
  request: TokenRequest,
  redemption: Redemption,
  code: AuthorizationCode,
): Promise<ApiError | undefined> {
  if (!isOwn(code, request)) return unusableCode("code of another client or of a deleted registration");
  if (code.bank !== request.bank) return unusableCode("code of another bank"); // Decision A3
  if (code.redirectUri !== redemption.redirectUri) { // byte equality
    const expected = `${quote(code.redirectUri)} (the one of the pushed request)`;
    return invalidGrant(mismatch("redirect_uri", expected, redemption.redirectUri));
  }
  const verifier = redemption.codeVerifier;
  if (verifier === undefined || !await matchesChallenge(verifier, code.codeChallenge)) {
    const expected = `43 to 128 characters whose SHA-256 is the code_challenge ${quote(code.codeChallenge)}`;
    return invalidGrant(mismatch("code_verifier", expected));
  }
  if (code.dpopJkt !== undefined && code.dpopJkt !== request.proof.jkt) {
    return otherProofKey("the code", code.dpopJkt, request.proof.jkt); // RFC 9449 §10
  }
  return undefined;
}

const REDEEMED = describedMismatch(
  "code",
  "redeemed once",
  "one that was redeemed before; its token is revoked now",
);
const LATE = describedMismatch(
  "code",
  `redeemed within ${CODE_SECONDS} s and with at most ${MAX_CODE_FAILURES} wrong attempts`,
  "an expired or void one",
);

/** One explanation for a code that does not exist and for one of another client or bank. */
function unusableCode(detail: string): ApiError {
  const expected = `one that this bank's authorization returned to you within ${CODE_SECONDS} s`;
  return new ApiError("oauth.invalid_grant", {
    detail,
    ...describedMismatch("code", expected, "an unknown one"),
  });
}

function invalidGrant({ fault }: Failure): ApiError {
  return new ApiError("oauth.invalid_grant", { fault });
}

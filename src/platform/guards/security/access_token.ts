/**
 * Middleware of resource endpoints. It checks a DPoP-bound access token of this bank, its proof, the certificate of
 * its owner, its scope and its grant. No resource is read before it passes.
 */
import type { WallTime } from "../../../base/kernel/clock.ts";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import {
  asBankCode,
  asConsentId,
  asPaymentId,
  type BankCode,
  type ClientId,
  type ConsentId,
} from "../../../base/kernel/identifiers.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import type { RequestFacts, RequestVariables } from "../../../base/http/context.ts";
import { authenticationOf, type CertificateVariables } from "./client_certificate.ts";
import { digest } from "../../evidence/digest.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import type { BankVariables, StandingOf } from "./standing.ts";
import { describedMismatch, mismatch, quote } from "../../../base/kernel/result.ts";
import type { Caller, FindCaller, ParticipantKeys } from "./caller.ts";
import { NOT_THE_CLIENTS } from "./client_authentication.ts";
import { type ClaimVariables, UNKNOWN_TOKEN } from "./proven_caller.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../base/profile.ts";
import { accessTokenKey, bankKey, clientKey, orderHoldKey } from "../../config/store_keys.ts";
import type { Key, Reader } from "../../../base/store/store.ts";
import type { VerifyDpopProof } from "./dpop_proof.ts";
import type { LimitVariables } from "./rate_limits.ts";

export type Grant = "client_credentials" | "authorization_code";

/** The rights of a token: its client, bank, grant and consent, and the key that it is bound to. */
export interface AccessToken {
  readonly clientId: ClientId;
  /** Which registration of the client it was issued to. */
  readonly registration: number;
  readonly bank: BankCode;
  readonly scope: "payments" | "bank";
  readonly grant: Grant;
  /** The only consent that the token is for. Set for an authorization code. */
  readonly consentId?: ConsentId;
  readonly jkt: string;
  /** Milliseconds. */
  readonly expiresAt: WallTime;
}

/** Returns when the token was issued, milliseconds. */
export function issuedAt({ expiresAt }: Pick<AccessToken, "expiresAt">): number {
  return expiresAt - ACCESS_TOKEN_SECONDS * 1000;
}

/** Returns a valid token by its hash, or null if it is unknown, expired or revoked. */
export type FindAccessToken = (from: Reader, tokenHash: string) => Promise<AccessToken | null>;

/**
 * Returns the keys that the endpoint will read once the token is known. They are prefetched together with the token's
 * owner.
 */
export type KeysOfToken = (c: Context<AccessEnv>, token: AccessToken) => readonly Key[];

/** Verified access. Only {@link accessToken} makes one. */
export interface Access {
  readonly caller: Caller;
  readonly token: AccessToken;
  /** For the history of what the request changes. */
  readonly authentication: Authentication;
}

/** Set by {@link accessToken}. */
export interface AccessVariables {
  access: Access;
}

export interface Requirement {
  /** `any`: for TPPs and banks. */
  readonly scope: AccessToken["scope"] | "any";
  readonly grants: readonly Grant[];
  /** For a path without a bank, to which a token of any bank gives access. */
  readonly bank?: "any";
}

export interface AccessTokenDeps {
  /** Throws for TPPs while the bank is not reconciled after a restore. */
  readonly rejectWhileHeld: (from: Reader, bank: BankCode) => Promise<void>;
  readonly verifyDpop: VerifyDpopProof;
  readonly baseUrl: string;
  readonly findAccessToken: FindAccessToken;
  readonly findCaller: FindCaller;
  readonly keys: ParticipantKeys;
  readonly standingOf: StandingOf;
}

/** Variables that the middleware reads and sets. */
export type AccessEnv = {
  Variables:
    & RequestVariables
    & BankVariables
    & CertificateVariables
    & LimitVariables
    & PresentedTokenVariables
    & ClaimVariables
    & AccessVariables;
};

/**
 * Creates the middleware.
 *
 * @throws {ApiError} `token.*`, `dpop.*`, `certificate.not_participants`, `request.rate_limited`
 */
export function accessToken(
  deps: AccessTokenDeps,
): (requirement: Requirement, more?: KeysOfToken) => ReturnType<typeof createMiddleware<AccessEnv>> {
  return (requirement, more = () => []) =>
    createMiddleware<AccessEnv>(async function accessToken(c, next) {
      const url = new URL(c.req.url);
      const text = readCredentials(c.req.header("authorization"), url.searchParams);
      const reads = c.get("reads");
      const hash = hashOf(text, c.get("presented"));
      const token = await deps.findAccessToken(reads, hash);
      if (token === null) throw new ApiError("token.invalid", { fault: UNKNOWN_TOKEN });
      c.set("clientClaim", { by: "access token", clientId: token.clientId });
      if (requirement.bank !== "any") requireBank(token, c.get("bank").code);
      reads.ahead([clientKey(token.clientId), ...more(c, token)]); // read while the proof is checked
      const proof = await deps.verifyDpop({
        header: c.req.header("dpop"),
        method: c.req.method,
        url: deps.baseUrl + url.pathname,
        accessTokenHash: hash,
      });
      c.get("replayRecords").pending.push(proof.once);
      if (proof.jkt !== token.jkt) throw otherProofKey("the access token", token.jkt, proof.jkt);
      const caller = await owner(deps, token, c.get("certificate").spkiThumbprint, reads);
      requireScope(requirement, token);
      await c.get("limitParticipant")(caller);
      if (caller.role === "PISP") await deps.rejectWhileHeld(reads, token.bank);
      const authentication = authenticationOf(c, deps.baseUrl, { clientId: caller.clientId, token: hash });
      c.set("access", { caller, token, authentication });
      noteSubject(c.get("facts"), c.req.param(), token);
      await next();
    });
}

/** Runs after the checks of the token. An id in the path may be one that does not exist. */
function noteSubject(
  facts: RequestFacts,
  { consentId, paymentId }: Readonly<Record<string, string>>,
  token: AccessToken,
): void {
  const consent = asConsentId(consentId) ?? token.consentId;
  const payment = asPaymentId(paymentId);
  if (consent !== undefined) facts.consentId = consent;
  if (payment !== undefined) facts.paymentId = payment;
}

/** Decision A3. */
function requireBank(token: AccessToken, bank: BankCode): void {
  if (token.bank === bank) return;
  const expected = `one that the token endpoint of ${quote(bank)} issued`;
  throw new ApiError(
    "token.invalid",
    describedMismatch("access token", expected, `one of ${quote(token.bank)}`),
  );
}

/** Returns the rejection of a proof by another key than the one that a token or a code is bound to (contract FAPI-D11). */
export function otherProofKey(bound: string, expected: string, received: string): ApiError {
  const words = `the key with the thumbprint ${quote(expected)}, to which ${bound} is bound`;
  return new ApiError("dpop.key_mismatch", mismatch("DPoP proof header jwk", words, received));
}

function hashOf(text: string, presented: PresentedTokenVariables["presented"]): string {
  return presented?.text === text ? presented.hash : digest(text);
}

function readCredentials(authorization: string | undefined, query: URLSearchParams): string {
  if (query.has("access_token")) { // FAPI 2.0 §5.3.4 item 2
    const message = "Send the access token in the Authorization header, not in the query.";
    throw malformedRequest({ code: "Field.Unexpected", path: "access_token", message });
  }
  if (authorization === undefined) {
    throw new ApiError("token.missing", mismatch("the Authorization header", CREDENTIALS));
  }
  if (authorization.includes(",")) {
    const message = "Send one Authorization header with one access token.";
    throw malformedRequest({ code: "Header.Invalid", path: "Authorization", message });
  }
  const token = dpopCredentials(authorization);
  if (token === undefined) { // RFC 9449 §7.2
    const scheme = mismatch("", "", authorization.trim().split(" ", 1)[0]).fault.received ?? "";
    throw new ApiError(
      "token.missing",
      describedMismatch("the Authorization header", CREDENTIALS, `scheme ${scheme}`),
    );
  }
  return token;
}

const CREDENTIALS = "'DPoP', a space and the access token";

async function owner(
  deps: AccessTokenDeps,
  token: AccessToken,
  spkiThumbprint: string,
  reads: Reader,
): Promise<Caller> {
  const caller = await deps.findCaller(reads, token.clientId);
  if (caller === null) throw new ApiError("token.invalid", "client is gone");
  if (token.registration !== caller.registration) {
    throw new ApiError("token.invalid", { detail: "of a deleted registration", fault: UNKNOWN_TOKEN });
  }
  const standing = await deps.standingOf(caller);
  if (standing !== "active") throw new ApiError("token.invalid", mismatch("client", "active", standing)); // Decision G5
  if (!await deps.keys.ownsTransportKey(caller, spkiThumbprint)) { // contract FAPI-D18
    throw new ApiError("certificate.not_participants", { fault: NOT_THE_CLIENTS });
  }
  return caller;
}

/** @throws {ApiError} `token.insufficient_scope` if the token has not the scope and one of the grants */
export function requireScope(requirement: Requirement, token: AccessToken): void {
  const scope = requirement.scope === "any" ? token.scope : requirement.scope;
  if (token.scope === scope && requirement.grants.includes(token.grant)) return;
  const grants = requirement.grants.join(" or ");
  const words = `This request needs an access token of scope ${scope} from the grant ${grants}.`;
  throw insufficientToken(words, scope);
}

/**
 * Returns the rejection of a valid token that does not allow the request. OBIE has no code for a scope or a grant, so
 * the fault names the header of the token.
 *
 * @param words for the caller
 * @param scope the scope that the request needs
 */
export function insufficientToken(words: string, scope: AccessToken["scope"]): ApiError {
  const fault = { code: "Header.Invalid", path: "Authorization", message: words } as const;
  const parts = { detail: words, description: words, scope, faults: [fault] };
  return new ApiError("token.insufficient_scope", parts);
}

/** Returns the rejection of an authorization code token that is used for another consent than its own. */
export function tokenOfAnotherConsent(): ApiError {
  return insufficientToken("The access token was issued for another consent.", "payments");
}

/** Returns the rejection of a token that is used for another client than its own, whether that client exists or not. */
export function tokenOfAnotherClient(scope: AccessToken["scope"]): ApiError {
  return insufficientToken("The access token was issued to another client.", scope);
}

function malformedRequest(fault: Fault): ApiError {
  return new ApiError("token.malformed_request", { detail: fault.message, faults: [fault] });
}

// Middleware that starts the reads named by the path and headers, in one round trip: the bank, the access token, and
// the endpoint's own keys. It never rejects a request.

/** A token as sent, and its hash, which is its store key and a proof's `ath` (RFC 9449 §4.2). */
export interface PresentedToken {
  readonly text: string;
  readonly hash: string;
}

/** Set by {@link firstReads}. */
export interface PresentedTokenVariables {
  /** Absent if the request has no credentials in the form of a token. */
  presented?: PresentedToken;
}

type Env = { Variables: RequestVariables & PresentedTokenVariables };

/** Returns further keys of an endpoint: those of the resource that its path names. */
export type KeysOfRequest = (c: Context) => readonly Key[];

const DPOP_CREDENTIALS = /^DPoP +(\S+)$/i; // RFC 9449 §7.1: the scheme in any case

/** Returns the token of an `Authorization` header, or undefined if its scheme is not DPoP. */
export function dpopCredentials(authorization: string | undefined): string | undefined {
  return DPOP_CREDENTIALS.exec(authorization?.trim() ?? "")?.[1];
}

/**
 * Creates the middleware that starts the reads named by the path and headers, in one round trip: the bank, the access
 * token, and the endpoint's own keys. It never rejects a request.
 */
export function firstReads(more: KeysOfRequest = () => []): ReturnType<typeof createMiddleware<Env>> {
  return createMiddleware<Env>(async function prefetch(c, next) {
    const code = asBankCode(c.req.param("bank"));
    const text = dpopCredentials(c.req.header("authorization"));
    const presented = text === undefined ? undefined : { text, hash: digest(text) };
    if (presented !== undefined) c.set("presented", presented);
    c.get("reads").ahead([
      ...(code === undefined ? [] : [bankKey(code), orderHoldKey(code)]),
      ...(presented === undefined ? [] : [accessTokenKey(presented.hash)]),
      ...more(c),
    ]);
    await next();
  });
}

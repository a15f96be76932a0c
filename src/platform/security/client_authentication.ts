/**
 * Client authentication at the token and PAR endpoints: private_key_jwt (RFC 7523) together with the participant's
 * TLS key. The response is the same for every fault of the assertion (contract CA14).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { unixSeconds } from "../../base/kernel/clock.ts";
import { asClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { timeFault } from "../../base/jose/claim_times.ts";
import {
  type JsonObject,
  readCompactJws,
  type UnverifiedJws,
  verifyClaims,
} from "../../base/jose/compact_jws.ts";
import { EXPIRY_SKEW_SECONDS, MAX_JWT_CHARACTERS } from "../../base/limits.ts";
import { CLIENT_ASSERTION_TYPE, MAX_ASSERTION_SECONDS, MAX_JTI_CHARACTERS } from "../profile.ts";
import { idPart, spentJwtKey } from "../store_keys.ts";
import type { Reader } from "../../base/store/store.ts";
import type { ReplayRecords } from "../../base/store/transaction.ts";
import type { Caller, FindCaller, ParticipantKeys } from "./caller.ts";
import type { ClientCertificate } from "./client_certificate.ts";
import type { StandingOf } from "./standing.ts";

/** An authenticated client of this request. Only {@link authenticateClient} makes one. */
export interface AuthenticatedClient {
  readonly caller: Caller;
}

export interface Presented {
  readonly form: ReadonlyMap<string, string>;
  /** The `Authorization` header: a second mechanism, which is rejected (RFC 6749 §5.2). */
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate;
  /** The issuer of the bank in the path: the only accepted `aud` (Decision A1). */
  readonly issuer: string;
  /** Prefetched entries of the request. */
  readonly reads: Reader;
}

export interface ClientAuthenticationDeps {
  readonly clock: Clock;
  readonly findCaller: FindCaller;
  readonly keys: ParticipantKeys;
  readonly standingOf: StandingOf;
}

const HEADER = {
  maxCharacters: MAX_JWT_CHARACTERS,
  typ: [undefined, "JWT", "client-authentication+jwt"], // RFC 7523bis; never JOSE, which is a payload signature
} as const;

/** The client that the request names, its assertion, and the key to verify it. Not authenticated yet. */
export interface IdentifiedClient {
  readonly caller: Caller;
  readonly assertion: UnverifiedJws;
  readonly key: CryptoKey;
}

/**
 * Does all checks of the client that need no signature verification.
 *
 * @throws {ApiError} as {@link authenticateClient}
 */
export async function identifyClient(
  deps: ClientAuthenticationDeps,
  presented: Presented,
): Promise<IdentifiedClient> {
  const { clientIdText, assertion } = readParameters(presented);
  const jws = readCompactJws(assertion, HEADER);
  if (!jws.ok) throw rejected(jws.why);
  const kid = jws.value.header["kid"];
  const clientId = asClientId(clientIdText);
  if (typeof kid !== "string" || clientId === undefined) throw rejected("kid or client_id");
  const caller = await deps.findCaller(clientId, presented.reads);
  if (caller === null) throw rejected("unknown client");
  const standing = await deps.standingOf(caller);
  if (standing !== "active") throw rejected(`client is ${standing}`); // Decision G5
  const key = await deps.keys.signingKey(caller, kid);
  if (key === undefined) throw rejected("kid is not a current signing key of this client");
  return { caller, assertion: jws.value, key };
}

/**
 * Authenticates the identified client and adds the assertion's replay record.
 *
 * @throws {ApiError} `client.*`, `oauth.invalid_request`, `certificate.not_participants`
 */
export async function authenticateClient(
  deps: Pick<ClientAuthenticationDeps, "clock" | "keys">,
  replayRecords: ReplayRecords,
  presented: Pick<Presented, "issuer" | "certificate">,
  { caller, assertion, key }: IdentifiedClient,
): Promise<AuthenticatedClient> {
  const claims = await verifyClaims(assertion, key);
  if (!claims.ok) throw rejected(claims.why);
  const now = deps.clock();
  const fault = claimFault(claims.value, caller, presented.issuer, unixSeconds(now));
  if (fault !== undefined) throw rejected(fault);
  if (!await deps.keys.ownsTransportKey(caller, presented.certificate.spkiThumbprint)) {
    throw new ApiError("certificate.not_participants", "certificate of another participant");
  }
  replayRecords.pending.push({
    key: spentJwtKey("assertion", caller.clientId, await idPart(String(claims.value["jti"]))),
    // NumericDate may have a fraction (RFC 7519 §2) and the clock has whole seconds. Without rounding up, the replay
    // record would expire before the assertion.
    expiresAt: (Math.ceil(Number(claims.value["exp"])) + EXPIRY_SKEW_SECONDS) * 1000,
    rejection: "client.not_authenticated",
  });
  return { caller };
}

function readParameters({ form, authorization }: Presented): { clientIdText: string; assertion: string } {
  if (authorization !== undefined || form.has("client_secret")) throw new ApiError("client.second_mechanism");
  const clientIdText = form.get("client_id");
  if (clientIdText === undefined) {
    throw new ApiError("oauth.invalid_request", { description: "client_id is required." });
  }
  const assertion = form.get("client_assertion");
  if (assertion === undefined) throw new ApiError("client.assertion_missing", "no client_assertion");
  if (form.get("client_assertion_type") !== CLIENT_ASSERTION_TYPE) {
    throw new ApiError("client.assertion_type_unsupported");
  }
  return { clientIdText, assertion };
}

function claimFault(claims: JsonObject, caller: Caller, issuer: string, now: number): string | undefined {
  const { iss, sub, aud, jti } = claims;
  if (iss !== caller.clientId || sub !== caller.clientId) return "iss or sub"; // RFC 7523 §3 (1, 2B)
  if (aud !== issuer) return "aud"; // FAPI 2.0 §5.3.2.1 item 8: the issuer, as a string
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_CHARACTERS) return "jti";
  const foreign = ["software_statement", "htm", "correlation_id"].find((name) => Object.hasOwn(claims, name));
  if (foreign !== undefined) return `claim ${foreign} of another kind of JWT`; // RFC 8725 §3.12
  return timeFault(
    claims,
    { exp: "required", iat: "optional", maxAhead: MAX_ASSERTION_SECONDS, maxAge: MAX_ASSERTION_SECONDS },
    now,
  );
}

function rejected(why: string): ApiError {
  return new ApiError("client.not_authenticated", why);
}

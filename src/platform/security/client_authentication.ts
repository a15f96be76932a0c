/**
 * Client authentication at the token and PAR endpoints: private_key_jwt (RFC 7523) together with the participant's
 * TLS key. The response is the same for every fault of the assertion (contract CA14).
 */
import type { Clock } from "../../base/kernel/clock.ts";
import { asClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { mismatch, ok, type Result } from "../../base/kernel/result.ts";
import { absent, checkClaims, exactly, text, unixTime } from "../../base/jose/claims.ts";
import { inPart, type JwtFault, type UnverifiedJws } from "../../base/jose/compact_jws.ts";
import {
  type IdentifiedJwt,
  identifySigner,
  type Signer,
  verifyIdentified,
} from "../../base/jose/verify_jwt.ts";
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
  /** The reads of the request. */
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

const TIMES = {
  exp: "required",
  iat: "optional",
  maxAhead: MAX_ASSERTION_SECONDS,
  maxAge: MAX_ASSERTION_SECONDS,
} as const;

/** The client that the request names, and the key that must have signed its assertion. Not authenticated yet. */
export interface NamedClient extends Signer {
  readonly caller: Caller;
}

/**
 * Does all checks of the client that need no signature verification.
 *
 * @throws {ApiError} as {@link authenticateClient}
 */
export async function identifyClient(
  deps: ClientAuthenticationDeps,
  presented: Presented,
): Promise<IdentifiedJwt<NamedClient>> {
  const { clientIdText, assertion } = readParameters(presented);
  const identified = await identifySigner(assertion, {
    ...HEADER,
    findKey: (jws) => findClient(deps, presented.reads, clientIdText, jws),
  });
  if (!identified.ok) throw rejected(identified.fault);
  return identified.value;
}

async function findClient(
  deps: ClientAuthenticationDeps,
  reads: Reader,
  clientIdText: string,
  { header }: UnverifiedJws,
): Promise<Result<NamedClient, JwtFault>> {
  const kid = header["kid"];
  const clientId = asClientId(clientIdText);
  if (typeof kid !== "string") return inPart("header", mismatch("header kid", "a string", kid));
  if (clientId === undefined) return inPart("key", mismatch("client_id", "SC- and a UUID", clientIdText));
  const caller = await deps.findCaller(reads, clientId);
  if (caller === null) return inPart("key", mismatch("client_id", "a registered client", clientIdText));
  const standing = await deps.standingOf(caller);
  if (standing !== "active") return inPart("key", mismatch("client", "active", standing)); // Decision G5
  const key = await deps.keys.signingKey(caller, kid);
  return key === undefined
    ? inPart("key", mismatch("header kid", "the kid of a current signing key of the client", kid))
    : ok({ caller, key });
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
  identified: IdentifiedJwt<NamedClient>,
): Promise<AuthenticatedClient> {
  const { caller } = identified.signer;
  const assertion = await verifyIdentified(identified, {
    claims: (claims) =>
      checkClaims(claims, {
        iss: exactly(caller.clientId), // RFC 7523 §3 (1)
        sub: exactly(caller.clientId), // RFC 7523 §3 (2B)
        aud: exactly(presented.issuer), // FAPI 2.0 §5.3.2.1 item 8: the issuer, as a string
        jti: text(MAX_JTI_CHARACTERS),
        software_statement: absent,
        htm: absent,
        correlation_id: absent,
        exp: unixTime,
      }),
    times: { ...TIMES, clock: deps.clock },
  });
  if (!assertion.ok) throw rejected(assertion.fault);
  if (!await deps.keys.ownsTransportKey(caller, presented.certificate.spkiThumbprint)) {
    throw new ApiError("certificate.not_participants", "certificate of another participant");
  }
  const { jti, exp } = assertion.value.claims;
  replayRecords.pending.push({
    key: spentJwtKey("assertion", caller.clientId, await idPart(jti)),
    // NumericDate may have a fraction (RFC 7519 §2) and the clock has whole seconds. Without rounding up, the replay
    // record would expire before the assertion.
    expiresAt: (Math.ceil(exp) + EXPIRY_SKEW_SECONDS) * 1000,
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

function rejected(fault: JwtFault): ApiError {
  return new ApiError("client.not_authenticated", { fault });
}

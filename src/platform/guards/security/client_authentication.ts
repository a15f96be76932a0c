/**
 * Client authentication at the token and PAR endpoints: private_key_jwt (RFC 7523) together with the participant's
 * TLS key. Without that key the response is the same for every fault of the assertion (contract CA14).
 */
import { noteReceived } from "../../../base/http/context.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { asClientId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { type Mismatch, mismatch, ok, quote, type Result, within } from "../../../base/kernel/result.ts";
import {
  absent,
  checkClaims,
  exactly,
  type IdentifiedJwt,
  identifySigner,
  type Signer,
  text,
  unixTime,
  verifyIdentified,
} from "../../../base/jose/verify_jwt.ts";
import { inPart, type JwtFault, type UnverifiedJws } from "../../../base/jose/compact_jws.ts";
import { EXPIRY_SKEW_SECONDS, MAX_JWT_CHARACTERS } from "../../../base/limits.ts";
import { CLIENT_ASSERTION_TYPE, MAX_ASSERTION_SECONDS, MAX_JTI_CHARACTERS } from "../../../base/profile.ts";
import { spentJwtKey } from "../../config/store_keys.ts";
import { digest } from "../../evidence/digest.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { ReplayRecords } from "../../../base/store/transaction.ts";
import type { Caller, FindCaller, ParticipantKeys } from "./caller.ts";
import type { ClientCertificate } from "./client_certificate.ts";
import type { StandingOf } from "./standing.ts";

/** An authenticated client of this request. Only {@link authenticateClient} makes one. */
export interface AuthenticatedClient {
  readonly caller: Caller;
  /** Identifies the client assertion in a history. */
  readonly assertion: { readonly kid: string; readonly jtiHash: string };
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

/** Not explained to the caller, because another participant's certificate proves nothing about this client. */
export const NOT_THE_CLIENTS: Mismatch = { at: "client certificate", expected: "one of the client" };

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
  noteReceived("client_assertion", assertion);
  const identified = await identifySigner(assertion, {
    ...HEADER,
    findKey: (jws) => findClient(deps, presented.reads, clientIdText, jws),
  });
  if (!identified.ok) throw assertionError(identified.fault);
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
  if (clientId === undefined) return inPart("key", mismatch("client_id", "SC- and a UUID", clientIdText));
  const caller = await deps.findCaller(reads, clientId);
  if (caller === null) return inPart("key", mismatch("client_id", "a registered client", clientIdText));
  const standing = await deps.standingOf(caller);
  if (standing !== "active") return inPart("key", mismatch("client", "active", standing)); // Decision G5
  const key = typeof kid === "string" ? await deps.keys.signingKey(caller, kid) : undefined;
  return key === undefined ? inPart("header", await deps.keys.kidFault(caller, kid)) : ok({ caller, key });
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
        iss: exactly(caller.clientId, "your client_id"), // RFC 7523 §3 (1)
        sub: exactly(caller.clientId, "your client_id"), // RFC 7523 §3 (2B)
        aud: exactly(presented.issuer, "the issuer of this bank, as a string"), // contract FAPI-D2; FAPI 2.0 §5.3.2.1 item 8
        jti: text(MAX_JTI_CHARACTERS),
        software_statement: absent,
        htm: absent,
        correlation_id: absent,
        exp: unixTime,
      }),
    times: { ...TIMES, clock: deps.clock },
  });
  if (!assertion.ok) throw assertionError(assertion.fault);
  if (!await deps.keys.ownsTransportKey(caller, presented.certificate.spkiThumbprint)) { // contract FAPI-D18
    throw new ApiError("certificate.not_participants", { fault: NOT_THE_CLIENTS });
  }
  const { jti, exp } = assertion.value.claims;
  replayRecords.pending.push({
    key: spentJwtKey("assertion", caller.clientId, jti),
    // NumericDate may have a fraction (RFC 7519 §2) and the clock has whole seconds. Without rounding up, the replay
    // record would expire before the assertion.
    expiresAt: (Math.ceil(exp) + EXPIRY_SKEW_SECONDS) * 1000,
    rejection: "client.not_authenticated",
    fault: { at: "client_assertion jti", expected: "new for each assertion", received: "one used before" },
  });
  return { caller, assertion: { kid: String(identified.jws.header["kid"]), jtiHash: digest(jti) } };
}

function readParameters({ form, authorization }: Presented): { clientIdText: string; assertion: string } {
  if (authorization !== undefined || form.has("client_secret")) {
    const at = authorization === undefined ? "client_secret" : "the Authorization header";
    const fault = { at, expected: "absent, because client_assertion authenticates the client" };
    const description = `${at === "client_secret" ? at : "The Authorization header"} must be absent: ` +
      "client_assertion authenticates the client (private_key_jwt).";
    throw new ApiError("client.second_mechanism", { description, fault });
  }
  const clientIdText = form.get("client_id");
  if (clientIdText === undefined) {
    const fault = { at: "client_id", expected: "your client_id" };
    throw new ApiError("oauth.invalid_request", { description: "client_id is required.", fault });
  }
  const assertion = form.get("client_assertion");
  if (assertion === undefined) {
    const fault = {
      at: "client_assertion",
      expected: "a JWT signed with your signing key (private_key_jwt)",
    };
    throw new ApiError("client.assertion_missing", { fault });
  }
  const type = form.get("client_assertion_type");
  if (type !== CLIENT_ASSERTION_TYPE) {
    const { fault } = mismatch("client_assertion_type", quote(CLIENT_ASSERTION_TYPE), type);
    throw new ApiError("client.assertion_type_unsupported", { fault });
  }
  return { clientIdText, assertion };
}

/** The parts of the request that are not in the assertion. */
const OUTSIDE: ReadonlySet<string> = new Set(["client_id", "client"]);

function assertionError(fault: JwtFault): ApiError {
  const named = OUTSIDE.has(fault.at) ? fault : within("client_assertion", fault);
  return new ApiError("client.not_authenticated", { fault: named });
}

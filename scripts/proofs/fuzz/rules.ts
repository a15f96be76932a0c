/**
 * The contract's requirements for signed texts. They check accepted requests and share no code with the platform. Each
 * rule returns the name of the first wrong part.
 */
import type { TestKey } from "../../testing/keys.ts";
import type { Participant } from "../../testing/participants.ts";
import {
  AUTH_URL,
  BASE_URL,
  DIRECTORY_URL,
  REGISTRATION_AUDIENCE,
  START,
} from "../../testing/environment.ts";
import type { Coverage } from "./signing.ts";
import { type Attempt, bodyText, headerOf, parameterOf, pathnameOf } from "./sample_request.ts";

/** The fault of an accepted token, or undefined. */
export type Rule = (header: Members, claims: Members, attempt: Attempt) => string | undefined;

const OBIE = "http://openbanking.org.uk/";

/** `client_assertion` of this client for this bank (contract CA1 to CA16). */
export function assertionRule({ clientId, signing }: Participant, bank: string): Rule {
  return (header, claims, attempt) =>
    firstBroken([
      ...headed(header, signing.kid, [undefined, "jwt", "client-authentication+jwt"]),
      ["iss", claims["iss"] === clientId],
      ["sub", claims["sub"] === clientId],
      ["client_id", parameterOf(bodyText(attempt), "client_id") === clientId],
      ["aud", claims["aud"] === `${AUTH_URL}/${bank}`],
      ["jti", isText(claims["jti"])],
      ...timed(claims, 330, ["exp"]),
    ]);
}

/** A DPoP proof by this key, with the hash of its access token if it has one (RFC 9449 §4.3). */
export function proofRule(key: TestKey, ath?: string): Rule {
  return (header, claims, attempt) => {
    const jwk: Members = Object(header["jwk"]);
    const { kty, n, e } = key.publicJwk;
    return firstBroken([
      ["alg", header["alg"] === "PS256"],
      ["typ", typeOf(header["typ"]) === "dpop+jwt"],
      ["set of header members", !ALIEN.some((name) => Object.hasOwn(header, name))],
      ["jwk", jwk["kty"] === kty && jwk["n"] === n && jwk["e"] === e],
      ["set of jwk members", !["d", "p", "q", "dp", "dq", "qi"].some((name) => Object.hasOwn(jwk, name))],
      ["htm", claims["htm"] === attempt.method],
      ["htu", isSameAddress(claims["htu"], attempt)],
      ["jti", isText(claims["jti"])],
      ["ath", ath === undefined || claims["ath"] === ath],
      ["iat", isTime(claims["iat"], NOW - 60, NOW + SKEW)],
      ...timed(claims, Infinity, []),
    ]);
  };
}

function isSameAddress(htu: unknown, attempt: Attempt): boolean {
  const url = typeof htu === "string" ? URL.parse(htu) : null;
  return url?.origin === BASE_URL && pathnameOf({ path: url.pathname }) === pathnameOf(attempt);
}

/** The registration JWT of this participant (contract DC6-DC10). */
export function registrationRule(who: Participant): Rule {
  const bank = who.role === "ASPSP";
  const grants = bank ? ["authorization_code"] : ["authorization_code", "client_credentials"];
  return (header, claims) =>
    firstBroken([
      ...headed(header, who.signing.kid, ["jwt"]),
      ["iss", [who.name, who.orgId].includes(String(claims["iss"]))],
      ["aud", claims["aud"] === REGISTRATION_AUDIENCE],
      ["jti", isText(claims["jti"])],
      ["exp - iat", Number(claims["exp"]) - Number(claims["iat"]) <= 3600],
      ["iat", isTime(claims["iat"], NOW - 3600, NOW + SKEW)],
      ["redirect_uris", isSubset(claims["redirect_uris"], who.redirectUris)],
      ["grant_types", grants.every((grant) => listOf(claims["grant_types"]).includes(grant))],
      ["scope", claims["scope"] === (bank ? "bank" : "payments")],
      ["software_id", (claims["software_id"] ?? who.clientId) === who.clientId],
      ["token_endpoint_auth_method", claims["token_endpoint_auth_method"] === "private_key_jwt"],
      ["application_type", claims["application_type"] === "web"],
      ...timed(claims, 3600 + SKEW, ["exp", "iat"]),
    ]);
}

/** A software statement of the directory about any participant (contract DC2, DC3). */
export function statementRule(directoryKid: string): Rule {
  return (header, claims) =>
    firstBroken([
      ...headed(header, directoryKid, ["jwt"]),
      ["iss", claims["iss"] === DIRECTORY_URL],
      ["software_client_status", claims["software_client_status"] === "Active"],
      ["software_environment", claims["software_environment"] === "Production"],
      ["software_roles", /^(PISP|ASPSP)$/.test(String(claims["software_roles"]))],
      ["software_client_id", /^SC-[0-9a-fA-F-]{36}$/.test(String(claims["software_client_id"]))],
      ["org_jwks_endpoint", URL.parse(String(claims["org_jwks_endpoint"]))?.origin === DIRECTORY_URL],
      [
        "org_jwks_revoked_endpoint",
        URL.parse(String(claims["org_jwks_revoked_endpoint"]))?.origin === DIRECTORY_URL,
      ],
      ...timed(claims, 2 * 366 * 86_400, ["exp", "iat"]),
    ]);
}

/** Requires that this bank answers this platform about this session; otherwise there is no redirect (Decision B4). */
export function returnOriginRule(bank: Participant, handover: Members): Rule {
  return (header, claims) =>
    firstBroken([
      ...headed(header, bank.signing.kid, ["jwt"]),
      ["iss", claims["iss"] === bank.orgId],
      ["aud", claims["aud"] === AUTH_URL],
      ["bank_id", claims["bank_id"] === bank.orgId],
      ["correlation_id", claims["correlation_id"] === handover["correlation_id"]],
      ["jti", isText(claims["jti"])],
    ]);
}

const DIGEST = "transaction_digest";

/** The bank's result JWT for a handover (Decisions B3, B4). */
export function returnRule(bank: Participant, handover: Members): Rule {
  const origin = returnOriginRule(bank, handover);
  const same = ["ref_id", "debtor_account_present"];
  return (header, claims, attempt) =>
    origin(header, claims, attempt) ?? firstBroken([
      ...same.map((name): Check => [name, claims[name] === handover[name]]),
      ["transaction_digest", [undefined, handover[DIGEST]].includes(claims[DIGEST])],
      ["exp - iat", Number(claims["exp"]) - Number(claims["iat"]) <= 600],
      ["iat", isTime(claims["iat"], NOW - 630, NOW + SKEW)],
      ...timed(claims, 600 + SKEW, ["exp", "iat"]),
    ]);
}

/** Returns whether these claims of a bank's result JWT may lead to a code. */
export function isSuccess(claims: Members): boolean {
  return isOneOf(claims["status_code"], ["success", "200"]) && isText(claims["sub"]);
}

/** The outer header of a handover JWT (Decision A10). */
export function sealRule(header: Members, kid: string): string | undefined {
  return firstBroken([
    ["alg", header["alg"] === "RSA-OAEP-256"],
    ["enc", header["enc"] === "A256GCM"],
    ["kid", header["kid"] === kid],
    ["cty", [undefined, "JWT"].includes(String(header["cty"] ?? "JWT").toUpperCase())],
    [
      "set of header members",
      Object.keys(header).every((name) => ["alg", "enc", "kid", "cty", "typ"].includes(name)),
    ],
  ]);
}

/** The header of `x-jws-signature` by this participant, with this coverage of the body (Decision C5). */
export function signatureRule(header: Members, who: Participant, coverage: Coverage): string | undefined {
  const { orgId, clientId, signing } = who;
  const named = ["b64", ...["iat", "iss", "tan"].map((name) => OBIE + name)].filter((name) =>
    Object.hasOwn(header, name)
  );
  const { crit } = header;
  const may = (name: string, holds: (value: unknown) => boolean): Check => [
    name,
    !Object.hasOwn(header, OBIE + name) || holds(header[OBIE + name]),
  ];
  return firstBroken([
    ["alg", header["alg"] === "PS256"],
    ["kid", String(header["kid"]).replace(/=$/, "") === signing.kid.replace(/=$/, "")],
    ["typ", (header["typ"] ?? "JOSE") === "JOSE"],
    ["b64", (header["b64"] === false) === (coverage === "A")],
    ["crit", JSON.stringify([...new Set(listOf(crit))].sort()) === JSON.stringify(named.sort())],
    may("iat", (iat) => isTime(iat, NOW - 3600, NOW + 60)),
    may("iss", (iss) => [orgId, clientId, `${orgId}/${clientId}`].includes(String(iss))),
    may("tan", (tan) => tan === new URL(DIRECTORY_URL).host),
  ]);
}

/** The access token in a request, or undefined. */
export function accessTokenOf(attempt: Attempt): string | undefined {
  return /^dpop +(\S+)$/i.exec(headerOf(attempt, "authorization") ?? "")?.[1];
}

/** A decoded JSON object. */
export type Members = { readonly [name: string]: unknown };

/** The clock of every environment, Unix seconds. */
const NOW = START / 1000;
/** Allowed clock skew, seconds. */
const SKEW = 30;
/** Header members that would supply a key, compression or processing rules. */
const ALIEN = ["jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2c", "p2s"];

/** A named check and its result. */
type Check = readonly [name: string, holds: boolean];

/** The name of the first failed check. */
function firstBroken(checks: readonly Check[]): string | undefined {
  return checks.find(([, holds]) => !holds)?.[0];
}

/** The header of a compact JWS by the participant's signing key. */
function headed(header: Members, kid: string, typ: readonly unknown[]): readonly Check[] {
  return [
    ["alg", header["alg"] === "PS256"],
    ["kid", String(header["kid"]).replace(/=$/, "") === kid.replace(/=$/, "")],
    ["typ", typ.includes(typeOf(header["typ"]))],
    ["set of header members", ![...ALIEN, "jwk"].some((name) => Object.hasOwn(header, name))],
  ];
}

/** `typ` as a media type (RFC 7515 §4.1.9). */
function typeOf(typ: unknown): unknown {
  return typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
}

/** A time between these, both included; Unix seconds. */
function isTime(value: unknown, from: number, to: number): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= from && value <= to;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 256;
}

/** `exp` not expired and at most `ahead` from now, `iat` and `nbf` not in the future; seconds. */
function timed(claims: Members, ahead: number, wanted: readonly string[]): readonly Check[] {
  const check = (name: string, from: number, to: number): Check => {
    const absent = !Object.hasOwn(claims, name) && !wanted.includes(name);
    return [name, absent || isTime(claims[name], from, to)];
  };
  return [
    check("exp", NOW - SKEW, NOW + ahead),
    ["exp", claims["exp"] !== NOW - SKEW],
    check("iat", -Infinity, NOW + SKEW),
    check("nbf", -Infinity, NOW + SKEW),
  ];
}

function isOneOf(value: unknown, of: readonly unknown[]): boolean {
  return of.includes(value);
}

/** A non-empty subset of these values. */
function isSubset(value: unknown, of: readonly unknown[]): boolean {
  return listOf(value).length > 0 && listOf(value).every((each) => isOneOf(each, of));
}

/** The value if it is a list, else an empty list. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Masks HTTP messages for developers. Tokens, codes, verifiers, assertions and proofs are shortened, so that they
 * cannot be used. Long unreadable values are shortened as well. JWTs are shown decoded, without their signatures.
 */
import { decodeJwt, decodeProtectedHeader } from "jose";

/** A JWT found in a message. `header` and `payload` are indented JSON; a detached JWS has no payload here. */
export interface ShownJwt {
  readonly where: string;
  readonly header: string;
  readonly payload?: string;
  /** Its times as text, such as `iat 2026-01-31T12:00:00Z`, oldest first. */
  readonly times: readonly string[];
}

/** One half of an exchange, masked. */
export interface ShownMessage {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly jwts: readonly ShownJwt[];
}

const secretHeaders = new Set(["dpop", "x-jws-signature", "cookie", "set-cookie"]);
const secretMembers = new Set([
  "access_token",
  "client_assertion",
  "code",
  "code_verifier",
  "request_uri",
  "software_statement",
  "oAuthUrl",
]);
const shownCharacters = 8;
/** Longer texts without a space are shortened, too. */
const readableCharacters = 100;

/** The first characters of a secret and its length; for a short secret only the length. */
export function mask(secret: string): string {
  const start = secret.length > 3 * shownCharacters ? secret.slice(0, shownCharacters) : "";
  return `${start}… (${secret.length} characters)`;
}

/** Masks one half of an exchange. `body` is its text. */
export function showMessage(headers: Headers, body: string): ShownMessage {
  const type = headers.get("content-type") ?? "";
  const form = type.startsWith("application/x-www-form-urlencoded") ? new URLSearchParams(body) : undefined;
  return {
    headers: [...headers].map(([name, value]) => [name, showHeader(name, value)] as const),
    body: form === undefined ? showText(body) : showQuery(form),
    jwts: [
      ...showJwt("DPoP", headers.get("dpop")),
      ...showJwt("x-jws-signature", headers.get("x-jws-signature")),
      ...showJwt("client_assertion", form?.get("client_assertion")),
    ],
  };
}

/** An address with its query decoded and its secrets masked, for reading only. */
export function showUrl(address: string): string {
  const { origin, pathname, searchParams } = new URL(address);
  const query = showQuery(searchParams).replaceAll("\n", "&");
  return `${origin}${pathname}${query === "" ? "" : `?${query}`}`;
}

/** A query or a form, decoded, one parameter a line, with its secrets masked. */
export function showQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => `${name}=${secretMembers.has(name) ? mask(value) : value}`).join("\n");
}

function showHeader(name: string, value: string): string {
  if (secretHeaders.has(name)) return mask(value);
  const [scheme, token] = name === "authorization" ? value.split(" ", 2) : [];
  return scheme === undefined ? value : `${scheme} ${mask(token ?? "")}`;
}

/** Indented JSON with its secret members masked; any other text unchanged. */
function showText(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), maskMember, 2);
  } catch {
    return body; // the response may be empty, or HTML from an intermediary
  }
}

/** A key's modulus or a certificate is not secret, but too long to be readable. */
function maskMember(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const isNoise = value.length > readableCharacters && !/\s/.test(value) && !value.includes("://");
  return secretMembers.has(name) || isNoise ? mask(value) : value;
}

function showJwt(where: string, compact: string | null | undefined): ShownJwt[] {
  if (compact === null || compact === undefined) return [];
  try {
    const head = decodeProtectedHeader(compact);
    const header = JSON.stringify(head, maskMember, 2);
    if (compact.includes("..")) return [{ where, header, times: showTimes(head) }];
    const claims = decodeJwt(compact);
    return [{ where, header, payload: JSON.stringify(claims, maskMember, 2), times: showTimes(claims) }];
  } catch {
    return []; // a text that cannot be decoded is still shown, masked, among the headers
  }
}

function showTimes(members: object): string[] {
  return Object.entries(members)
    .flatMap(([name, value]) => {
      const short = name.replace(/^.*\//, ""); // OBIE members have a URL as their name
      const isTime = ["iat", "nbf", "exp"].includes(short) && typeof value === "number";
      return isTime ? [{ short, value }] : [];
    })
    .toSorted((one, other) => one.value - other.value)
    .map(({ short, value }) => `${short} ${new Date(value * 1000).toISOString().replace(".000", "")}`);
}

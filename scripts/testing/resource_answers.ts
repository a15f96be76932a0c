/** Assertions on responses of the resource endpoints: rejections in every detail, signatures, unchanged state. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { flattenedVerify, importJWK } from "jose";
import { bodyOf, type PlatformKeys, type ResourceError } from "./answers.ts";
import { AUTH_URL, type Environment } from "./environment.ts";
import type { JsonObject } from "./jwts.ts";

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Version 7. */
export const CONSENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An expected entry of `Errors`: code without `UK.OBIE.`, its Path where it has one, and its words if they are judged. */
export type ExpectedFault = readonly [code: string, path?: string, message?: string | undefined];

const CODES: Readonly<Record<number, string>> = {
  400: "400 BadRequest",
  403: "403 Forbidden",
  409: "409 Conflict",
  413: "413 PayloadTooLarge",
  415: "415 UnsupportedMediaType",
  500: "500 InternalServerError",
  503: "503 ServiceUnavailable",
};
const CRIT = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);

/** The answer is an `OBErrorResponse1` with exactly these faults in this order, not to be cached, and signed. */
export async function assertFaults(
  response: Response,
  status: number,
  faults: readonly ExpectedFault[],
): Promise<void> {
  const body = await errorBody(response, status);
  const found = body.Errors.map(({ ErrorCode, Path, Message }, index) => {
    const words = faults[index]?.[2] === undefined ? [] : [Message];
    return Path === undefined ? [ErrorCode] : [ErrorCode, Path, ...words];
  });
  const expected = faults.map(([code, ...more]) => [`UK.OBIE.${code}`, ...more.filter(isGiven)]);
  assertEquals(found, expected);
}

function isGiven(part: string | undefined): part is string {
  return part !== undefined;
}

/** The answer's `OBErrorResponse1` (contract EB1 to EB4), judged member by member. */
export async function errorBody(response: Response, status: number): Promise<ResourceError> {
  const text = await response.text();
  assertEquals(response.status, status, text);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertMatch(response.headers.get("x-jws-signature") ?? "", /^[\w-]+\.\.[\w-]+$/);
  const body = JSON.parse(text) as ResourceError;
  assertEquals(Object.keys(body).sort(), ["Code", "Errors", "Id", "Message"]);
  assertEquals(body.Code, CODES[status]);
  assertMatch(body.Id, UUID);
  assertText(body.Message);
  assert(Array.isArray(body.Errors) && body.Errors.length > 0 && body.Errors.length <= 20);
  for (const entry of body.Errors) assertEntry(entry);
  assert(!/\bat \w+.*\.[jt]sx?:\d+:\d+|\.ts\b|node_modules|Error:/.test(text), `words of a program: ${text}`);
  return body;
}

function assertEntry(entry: ResourceError["Errors"][number]): void {
  const { ErrorCode, Message, Path, Url, ...rest } = entry;
  assertEquals(rest, {});
  assertMatch(ErrorCode, /^UK\.OBIE\.[A-Z][A-Za-z]+(\.[A-Z][A-Za-z]+)?$/);
  assertText(Message);
  if (Path !== undefined) assertText(Path);
  if (Url !== undefined) assertMatch(Url, ERROR_URI);
}

function assertText(value: unknown): void {
  assert(typeof value === "string" && value !== "" && value.length <= 500);
}

/**
 * The answer is a 401 without a body, or a 400 or 403 with one, and carries exactly this challenge. A 403 says in
 * the challenge and in the body why the token is not enough; the fault is the Authorization header's [C3] [G8].
 */
export async function assertChallenge(
  response: Response,
  status: 400 | 401 | 403,
  challenge: string,
): Promise<void> {
  const given = response.headers.get("www-authenticate") ?? "";
  const description = DESCRIPTION.exec(given);
  assertEquals(unexplained(given), challenge);
  if (status === 401) return await assertBare(response, 401);
  const [fault] = (await errorBody(response, status)).Errors;
  if (status === 400) {
    return assert(fault?.ErrorCode !== "UK.OBIE.Resource.InvalidFormat", "the body is not at fault");
  }
  const { Url: _, ...named } = fault ?? {};
  const expected = { ErrorCode: "UK.OBIE.Header.Invalid", Message: description?.[1], Path: "Authorization" };
  assertEquals(named, expected);
}

const DESCRIPTION = /error_description="([^"]{1,500})", /;
const URI = /error_uri="([^"]+)", /;

/** Returns a challenge without its explanation. */
export function unexplained(challenge: string): string {
  const uri = URI.exec(challenge)?.[1];
  if (uri !== undefined) assertMatch(uri, ERROR_URI);
  return challenge.replace(DESCRIPTION, "").replace(URI, "");
}

/**
 * Asserts the members of an OAuth error: `error_description` in the characters of RFC 6749 §5.2, and for a caller with
 * a proven certificate `error_uri` (Decision G8).
 */
export function assertErrorMembers(body: Readonly<Record<string, string>>): void {
  const { error, error_description: description = "", error_uri: uri, ...rest } = body;
  assertEquals([typeof error, rest], ["string", {}]);
  assertMatch(description, /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,500}$/);
  if (uri !== undefined) assertMatch(uri, ERROR_URI);
}

/** The address of an error's documentation. */
export const ERROR_URI = new RegExp(`^${AUTH_URL}/docs/errors#[a-z0-9]+(-[a-z0-9]+)+$`);

/** The answer has no body, hence no type and no signature (contract EH3). */
export async function assertBare(response: Response, status: number): Promise<void> {
  assertEquals([response.status, await response.text()], [status, ""]);
  assertEquals(response.headers.get("content-type"), null);
  assertEquals(response.headers.get("x-jws-signature"), null);
  assertCommonHeaders(response);
}

/** Asserts the headers of every response of the API host. */
export function assertCommonHeaders(response: Response): void {
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(response.headers.get("x-content-type-options"), "nosniff");
  assertMatch(response.headers.get("x-fapi-interaction-id") ?? "", /^[0-9a-fA-F-]{36}$/);
}

/** A good signature of an answer: its header and the profile it is in. */
export interface AnswerSignature {
  readonly profile: "A" | "B";
  readonly header: JsonObject;
}

/** Verifies `x-jws-signature` over the raw body with the platform's published keys, as a careful client would. */
export async function verifyAnswer(env: Environment, response: Response): Promise<AnswerSignature> {
  const body = new Uint8Array(await response.clone().arrayBuffer());
  const [head = "", middle, signature = ""] = (response.headers.get("x-jws-signature") ?? "").split(".");
  assertEquals(middle, "", "payload segment");
  const text = new TextDecoder().decode(Uint8Array.fromBase64(head, { alphabet: "base64url" }));
  const header = JSON.parse(text) as JsonObject;
  const { keys } = await bodyOf<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)));
  const jwk = keys.find((key) => key.use === "sig" && key.kid === header.kid);
  if (jwk === undefined) throw new Error(`no published signing key ${header.kid}`);
  const raw = header.b64 === false;
  const payload = raw ? body : body.toBase64({ alphabet: "base64url", omitPadding: true });
  const crit = Object.fromEntries(CRIT.map((name) => [name, true]));
  await flattenedVerify({ protected: head, payload, signature }, await importJWK(jwk, "PS256"), {
    algorithms: ["PS256"],
    crit,
  });
  return { profile: raw ? "A" : "B", header };
}

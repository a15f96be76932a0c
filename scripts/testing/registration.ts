/**
 * Valid and invalid registrations: statements with any content signed by the directory's own key, registration JWTs
 * with any member changed, and the expected rejections.
 */
import { type AnswerOf, bodyOf, type RegisteredClient, rejectionOf, type Statement } from "./answers.ts";
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { type JsonObject, type Signer, signJwt, thumbprint, withChanges } from "./jwts.ts";
import { testKey } from "./keys.ts";
import { adminCall, type Office, onboardOnly, type Participant, registrationClaims } from "./participants.ts";
import { assertCommonHeaders, assertErrorMembers } from "./resource_answers.ts";
import { BASE_URL, type Environment, openEnvironment, throughProxy } from "./environment.ts";
import { unchanged } from "./store_contents.ts";

/** Environment options for tables of registrations, without an effective rate limit. */
export const MANY_REGISTRATIONS = {
  environment: { PLATFORM_RATE_LIMITS: "registration=10000/10000" },
} as const;

/** Deviations from a valid registration. */
export interface RegistrationChanges {
  readonly claims?: JsonObject;
  readonly header?: JsonObject;
  readonly signer?: Signer;
  readonly statement?: string;
  /** Replaces the JWT. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string | null;
  /** The participant whose certificate is used; null for none. */
  readonly as?: Participant | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The directory's signer of statements: pool key 14 under its thumbprint. */
export async function directorySigner(): Promise<Signer> {
  const key = await testKey(14);
  return { key, kid: await thumbprint(key) };
}

/** A statement about the participant with some claims changed, signed by the directory by default. */
export async function statementWith(
  participant: Participant,
  { claims = {}, header = {}, signer }: {
    claims?: JsonObject;
    header?: JsonObject;
    signer?: Signer;
  } = {},
): Promise<string> {
  const signed = withChanges(decodeJwt(participant.statement), claims);
  return await signJwt(signer ?? await directorySigner(), signed, header);
}

/** A newer statement from the directory itself, with changed software details. */
export async function renewedStatement(
  env: Office,
  participant: Participant,
  changes: JsonObject = {},
): Promise<string> {
  const path = `/participants/${participant.orgId}/statement`;
  const response = await adminCall(env, "POST", path, changes);
  const body = await bodyOf<Statement>(response);
  if (response.status !== 200) throw new Error(`renewal: ${response.status} ${JSON.stringify(body)}`);
  return body.software_statement;
}

/** The registration JWT with these changes. */
export function registrationJwt(
  env: Environment,
  participant: Participant,
  { claims = {}, header = {}, signer = participant.signing, statement }: RegistrationChanges = {},
): Promise<string> {
  const good = registrationClaims(env, statement === undefined ? participant : { ...participant, statement });
  return signJwt(signer, withChanges(good, claims), header);
}

/** Posts a registration. */
export async function postRegistration(
  env: Environment,
  participant: Participant,
  changes: RegistrationChanges = {},
): Promise<AnswerOf<RegisteredClient>> {
  const body = changes.body ?? await registrationJwt(env, participant, changes);
  const headers = new Headers(changes.headers ?? {});
  const type = changes.contentType === undefined ? "application/jose" : changes.contentType;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body; // no content type by itself
  if (type !== null) headers.set("content-type", type);
  const request = new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body: bytes });
  const as = changes.as === null ? undefined : changes.as ?? participant;
  return await env.platform.api.fetch(throughProxy(request, as));
}

/** Asserts a rejection: exact status and error, not cached, named, without a client id, and unchanged state. */
export async function assertRejected(
  env: Environment,
  attempt: () => Promise<Response>,
  status: number,
  error: string,
): Promise<Response> {
  const response = await unchanged(env, attempt);
  const body = await rejectionOf(response);
  assertEquals([response.status, body.error], [status, error], env.logged.at(-1));
  assertErrorMembers(body);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertCommonHeaders(response);
  return response;
}

/** A registration that must be rejected, made for the newcomer of {@link rejectAll}. */
export type MakeRegistration = (
  newcomer: Participant,
  env: Environment,
) => Promise<RegistrationChanges> | RegistrationChanges;

/** A new TPP with pool keys 10 and 11. */
export const NEWCOMER = {
  name: "New Shop Ltd",
  role: "PISP",
  keys: [10, 11],
  redirectUris: ["https://new.example/callback"],
} as const;

/** Each registration is rejected with 400 and this error; a good one is taken at the end. */
export async function rejectAll(
  t: Deno.TestContext,
  error: string,
  registrations: Readonly<Record<string, MakeRegistration>>,
): Promise<void> {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  for (const [name, make] of Object.entries(registrations)) {
    await t.step(name, async () => {
      const changes = await make(newcomer, env);
      await assertRejected(env, () => postRegistration(env, newcomer, changes), 400, error);
    });
  }
  await t.step("and nothing else was wrong with it", async () => {
    assertEquals((await postRegistration(env, newcomer)).status, 201);
  });
}

/** A registration with these claims. */
export function claiming(claims: JsonObject): MakeRegistration {
  return () => ({ claims });
}

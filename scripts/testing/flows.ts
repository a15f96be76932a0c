/**
 * Requests of a payment by valid parties, one function each. The authorization is in `authorization_flow.ts`. Tests replace
 * one step and take the others from here. Steps assert no result: each returns the raw response or throws with it.
 */
import {
  type Changes,
  clientAssertion,
  dpopProof,
  type JsonObject,
  payloadSignature,
  withChanges,
} from "./jwts.ts";
import { type TestKey, testKey } from "./keys.ts";
import type { Participant } from "./participants.ts";
import { addressesOf } from "./addresses.ts";
import { type Environment } from "./environment.ts";
import type { AnswerOf, CreatedConsent, Payment, PushedRequest, TokenAnswer } from "./answers.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

/** Form parameters; `undefined` omits one. */
export type FormChanges = Readonly<Record<string, string | undefined>>;

/** The environment that the steps need: in process, or a process of its own behind real TLS. */
export type FlowEnvironment = Pick<
  Environment,
  "now" | "addresses" | "tpp" | "bankA" | "bankB" | "api" | "browser"
>;

/** A token with the key it is bound to. */
export interface BoundToken {
  readonly token: string;
  readonly key: TestKey;
}

/** The PKCE verifier of a consent's flow. Each has its own, because a challenge is not accepted for a second code. */
export function verifierOf(consentId: string): Promise<string> {
  return sha256(`verifier of ${consentId}`);
}

/** A consent request, whose members tests change to anything. */
export interface SentConsent {
  readonly Data: JsonObject & { readonly Initiation: JsonObject };
  readonly Risk: JsonObject;
}

/** A payment request. */
export interface SentPayment {
  readonly Data: { readonly ConsentId: string; readonly Initiation: JsonObject };
  readonly Risk: JsonObject;
}

/** A minimal consent request; with a debtor account the consent is implicit. */
export function consentBody(
  changes: { initiation?: JsonObject; data?: JsonObject; risk?: JsonObject } = {},
): SentConsent {
  return {
    Data: {
      Initiation: withChanges({
        InstructionIdentification: "ACME412",
        EndToEndIdentification: "FRESCO.21302.GFX.20",
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
        CreditorAccount: {
          SchemeName: "UK.OBIE.IBAN",
          Identification: "FR1420041010050500013M02606",
          Name: "ACME Inc",
        },
      }, changes.initiation),
      ...withChanges({}, changes.data),
    },
    Risk: changes.risk ?? {},
  };
}

export const DEBTOR_ACCOUNT = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };

/** A form without the omitted parameters. */
export function formOf(form: FormChanges): URLSearchParams {
  return new URLSearchParams(
    Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A POST of a form to an OAuth endpoint. */
export async function postForm(
  env: FlowEnvironment,
  path: string,
  form: FormChanges,
  as?: Participant,
  headers: Record<string, string> = {},
): Promise<Response> {
  const url = `${addressesOf(env).baseUrl}${path}`;
  return await env.api(new Request(url, { method: "POST", body: formOf(form), headers }), as);
}

/** The three authentication parameters. */
export async function authentication(
  env: FlowEnvironment,
  client: Participant,
  bank: string,
  changes: Changes = {},
): Promise<FormChanges> {
  return {
    client_id: client.clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await clientAssertion(env, client, bank, changes),
  };
}

/** A token request by client credentials. */
export async function requestToken(
  env: FlowEnvironment,
  client: Participant,
  bank = "BANKA",
  { form = {}, key, proof, as = client, headers = {} }: {
    form?: FormChanges;
    key?: TestKey;
    proof?: string;
    as?: Participant;
    headers?: Record<string, string>;
  } = {},
): Promise<AnswerOf<TokenAnswer>> {
  const path = `/${bank}/token.oauth2/v1`;
  const url = `${addressesOf(env).baseUrl}${path}`;
  const dpop = proof ?? await dpopProof(env, key ?? await dpopKey(), { method: "POST", url });
  const good = {
    grant_type: "client_credentials",
    scope: client.role === "PISP" ? "payments" : "bank",
    ...await authentication(env, client, bank),
  };
  return await postForm(env, path, { ...good, ...form }, as, { dpop, ...headers });
}

/** A client credentials token. */
export async function clientToken(
  env: FlowEnvironment,
  client: Participant,
  bank = "BANKA",
  key?: TestKey,
): Promise<BoundToken> {
  const bound = key ?? await dpopKey();
  const answer = await good(requestToken(env, client, bank, { key: bound }), 200);
  return { token: answer.access_token, key: bound };
}

/** The default key that flows bind tokens to: pool key 9. */
export function dpopKey(): Promise<TestKey> {
  return testKey(9);
}

/** Changes to a resource call. */
export interface CallOptions {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Signs the body in this profile; POST and PUT are signed in B unless `signature` is given. */
  readonly profile?: "A" | "B";
  /** The header itself; null omits it. */
  readonly signature?: string | null;
  readonly idempotencyKey?: string | null;
  /** The proof itself; null omits it. */
  readonly proof?: string | null;
  readonly proofChanges?: Changes;
  /** Set as given; `undefined` removes one. */
  readonly headers?: Record<string, string | undefined>;
  /** The participant whose certificate is used; default: the caller; null for none. */
  readonly as?: Participant | null;
}

/** A call of a resource endpoint with a bound token. */
export async function call(
  env: FlowEnvironment,
  caller: Participant,
  bound: BoundToken,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const method = options.method ?? (options.body === undefined ? "GET" : "POST");
  const { baseUrl } = addressesOf(env);
  const target = { method, url: `${baseUrl}${path.split("?")[0]}`, accessToken: bound.token };
  const proof = options.proof === undefined
    ? await dpopProof(env, bound.key, target, options.proofChanges)
    : options.proof;
  const headers = new Headers({ authorization: `DPoP ${bound.token}` });
  if (proof !== null) headers.set("dpop", proof);
  if (options.body !== undefined) await signInto(env, caller, headers, options.body, options);
  if (method === "POST" && options.idempotencyKey !== null) {
    headers.set("x-idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  const init = options.body === undefined ? { method, headers } : { method, headers, body: options.body };
  return await env.api(
    new Request(`${baseUrl}${path}`, init),
    options.as === null ? undefined : options.as ?? caller,
  );
}

async function signInto(
  env: FlowEnvironment,
  caller: Participant,
  headers: Headers,
  body: string | Uint8Array<ArrayBuffer>,
  options: CallOptions,
): Promise<void> {
  headers.set("content-type", "application/json");
  if (options.signature === null) return;
  const made = options.signature ??
    await payloadSignature(env, caller, body, { profile: options.profile ?? "B" });
  headers.set("x-jws-signature", made);
}

/** Creates a consent; returns the response body. */
export async function createConsent(
  env: FlowEnvironment,
  bound: BoundToken,
  body: SentConsent = consentBody(),
  bank = "BANKA",
): Promise<CreatedConsent> {
  const path = `/${bank}/domestic-payment-consents/v1`;
  return await good<CreatedConsent>(call(env, env.tpp, bound, path, { body: JSON.stringify(body) }), 201);
}

/** The parameters of a valid pushed request. */
export async function pushForm(
  env: FlowEnvironment,
  client: Participant,
  bank: string,
  consentId: string,
): Promise<FormChanges> {
  return {
    ...await authentication(env, client, bank),
    response_type: "code",
    redirect_uri: client.redirectUris[0],
    code_challenge: await sha256(await verifierOf(consentId)),
    code_challenge_method: "S256",
    consent_id: consentId,
    scope: "payments",
    state: "af0ifjsldkj",
  };
}

/** Pushes an authorization request; returns the raw response. */
export async function push(
  env: FlowEnvironment,
  consentId: string,
  { client = env.tpp, bank = "BANKA", form = {}, headers = {}, as = client }: {
    client?: Participant;
    bank?: string;
    form?: FormChanges;
    headers?: Record<string, string>;
    as?: Participant;
  } = {},
): Promise<AnswerOf<PushedRequest>> {
  const good = await pushForm(env, client, bank, consentId);
  return await postForm(env, `/${bank}/par.oauth2/v1`, { ...good, ...form }, as, headers);
}

/** The payment request that matches a consent request. */
export function paymentBody(consentId: string, body: SentConsent = consentBody()): SentPayment {
  return { Data: { ConsentId: consentId, Initiation: body.Data.Initiation }, Risk: body.Risk };
}

/** Step 8: gives the raw answer. */
export function pay(
  env: FlowEnvironment,
  flow: { consentId: string; payment: BoundToken; body: SentConsent; bank?: Participant },
  options: CallOptions = {},
): Promise<AnswerOf<Payment>> {
  const path = `/${(flow.bank ?? env.bankA).orgId}/domestic-payments/v1`;
  return call(env, env.tpp, flow.payment, path, {
    body: JSON.stringify(paymentBody(flow.consentId, flow.body)),
    ...options,
  });
}

/** An answer with another status than the test wants. */
export class UnexpectedAnswer extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** The body of an answer with this status. @throws {UnexpectedAnswer} otherwise */
export async function good<T = unknown>(
  answer: AnswerOf<T> | Promise<AnswerOf<T>>,
  status: number,
): Promise<T> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== status) {
    throw new UnexpectedAnswer(response.status, `wanted ${status}, got ${response.status}: ${text}`);
  }
  return JSON.parse(text) as T;
}

/** The status that the TPP's request for a token of its own is answered with. */
export async function tokenStatus(env: FlowEnvironment): Promise<number> {
  const answer = await requestToken(env, env.tpp);
  await answer.body?.cancel();
  return answer.status;
}

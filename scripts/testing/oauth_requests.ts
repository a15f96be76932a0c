/**
 * The OAuth endpoints as targets of one table of defects: each makes a valid request of the environment's TPP at bank
 * A, and a case deviates from it. Rejections are checked in full: response, headers, and unchanged state.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { type PushedRequest, rejectionOf, type TokenAnswer } from "./answers.ts";
import {
  authentication,
  createConsent,
  dpopKey,
  type FormChanges,
  formOf,
  pushForm,
  verifierOf,
} from "./flows.ts";
import { type AtBank, authorise, codeOf, toBank } from "./authorization_flow.ts";
import { dpopProof, type ProofTarget } from "./jwts.ts";
import type { TestKey } from "./keys.ts";
import type { Participant } from "./participants.ts";
import { assertErrorMembers, UUID } from "./resource_answers.ts";
import { BASE_URL, type Environment } from "./environment.ts";
import { sharedToken } from "./shared_token.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";
import { unchanged } from "./store_contents.ts";

export const FORM_TYPE = "application/x-www-form-urlencoded";

/** Deviations of a request from a valid one. */
export interface Deviation {
  /** The client; default: the environment's TPP. */
  readonly client?: Participant;
  readonly form?: FormChanges;
  /** Changes the form's text; returns bytes if text cannot express the change. */
  readonly body?: (good: string) => string | Uint8Array<ArrayBuffer>;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `DPoP` header; null omits it. PAR sends one only if it is given. */
  readonly proof?: string | null;
  /** The key of a valid proof. */
  readonly key?: TestKey;
  /** The participant whose certificate is used; default: the client; null for none. */
  readonly as?: Participant | null;
}

/** One endpoint, with one grant. */
export interface OAuthEndpoint {
  readonly name: "client credentials" | "code" | "PAR";
  readonly path: string;
  readonly goodStatus: 200 | 201;
  /** The request that a DPoP proof must be for. */
  readonly target: ProofTarget;
  /** Ensures that a valid request would succeed: the code grant needs a fresh code. */
  ready(): Promise<void>;
  /** Builds the request without sending it. */
  request(deviation?: Deviation): Promise<Request>;
  send(deviation?: Deviation): Promise<Response>;
}

type GoodForm = (client: Participant) => Promise<FormChanges>;
type Parts = Pick<OAuthEndpoint, "name" | "path" | "goodStatus" | "ready"> & { readonly form: GoodForm };

const TOKEN_PATH = "/BANKA/token.oauth2/v1";
const PAR_PATH = "/BANKA/par.oauth2/v1";

/** Client credentials at bank A. */
export function clientCredentials(env: Environment): OAuthEndpoint {
  return endpoint(env, {
    name: "client credentials",
    path: TOKEN_PATH,
    goodStatus: 200,
    ready: () => Promise.resolve(),
    form: async (client) => ({
      grant_type: "client_credentials",
      scope: client.role === "PISP" ? "payments" : "bank",
      ...await authentication(env, client, "BANKA"),
    }),
  });
}

/** PAR at bank A, repeatedly for one consent. */
export async function pushing(env: Environment): Promise<OAuthEndpoint> {
  const consentId = await awaitingConsent(env);
  return endpoint(env, {
    name: "PAR",
    path: PAR_PATH,
    goodStatus: 201,
    ready: () => Promise.resolve(),
    form: (client) => pushForm(env, client, "BANKA", consentId),
  });
}

/** The code grant at bank A. Gets a fresh code if the last one was used or has expired. */
export function codeGrant(env: Environment): OAuthEndpoint {
  let issued: IssuedCode | undefined;
  const usable = async (): Promise<IssuedCode> => {
    const found = issued === undefined
      ? null
      : await env.store.get<{ expiresAt: number; redeemedFor?: string }>(
        ["authorization_code", await sha256(issued.code)],
      );
    const alive = found !== null && found.value.redeemedFor === undefined &&
      env.now < found.value.expiresAt;
    return issued = alive && issued !== undefined ? issued : await issueCode(env);
  };
  return endpoint(env, {
    name: "code",
    path: TOKEN_PATH,
    goodStatus: 200,
    ready: async () => void await usable(),
    form: async (client) => codeForm(env, await usable(), client),
  });
}

export async function oauthEndpoints(env: Environment): Promise<readonly OAuthEndpoint[]> {
  return [clientCredentials(env), codeGrant(env), await pushing(env)];
}

/** A code of a finished authorization. */
export interface IssuedCode extends AtBank {
  readonly code: string;
}

/** A consent that has just been authorised, and its code. */
export async function issueCode(
  env: Environment,
  options: Parameters<typeof toBank>[1] = {},
): Promise<IssuedCode> {
  const flow = await toBank(env, options);
  return { ...flow, code: codeOf(await authorise(env, flow)) };
}

/** The parameters of a valid redemption. */
export async function codeForm(
  env: Environment,
  { bank, consentId, code }: IssuedCode,
  client: Participant = env.tpp,
): Promise<FormChanges> {
  return {
    grant_type: "authorization_code",
    code,
    redirect_uri: client.redirectUris[0],
    code_verifier: await verifierOf(consentId),
    ...await authentication(env, client, bank.orgId),
  };
}

/** The id of a new consent of the TPP that awaits authorisation. */
export async function awaitingConsent(env: Environment): Promise<string> {
  return (await createConsent(env, await sharedToken(env, env.tpp, "BANKA"))).Data.ConsentId;
}

function endpoint(env: Environment, { form, ...parts }: Parts): OAuthEndpoint {
  const target = { method: "POST", url: BASE_URL + parts.path };
  const request = async (deviation: Deviation = {}): Promise<Request> => {
    const good = await form(deviation.client ?? env.tpp);
    const text = formOf({ ...good, ...deviation.form }).toString();
    const headers = new Headers({ "content-type": FORM_TYPE });
    const proof = deviation.proof === undefined && (parts.name !== "PAR" || deviation.key !== undefined)
      ? await dpopProof(env, deviation.key ?? await dpopKey(), target)
      : deviation.proof;
    if (typeof proof === "string") headers.set("dpop", proof);
    for (const [name, value] of Object.entries(deviation.headers ?? {})) headers.set(name, value);
    const body = deviation.body?.(text) ?? text;
    return new Request(target.url, { method: deviation.method ?? "POST", headers, body });
  };
  return {
    ...parts,
    target,
    request,
    async send(deviation = {}) {
      await parts.ready();
      const { client = env.tpp, as = client } = deviation;
      return await env.api(await request(deviation), as ?? undefined);
    },
  };
}

/** Status and `error` of a rejection. */
export type Expected = readonly [status: number, error: string];

/** A case of a table: the deviation for the endpoint. */
export type Case = (endpoint: OAuthEndpoint) => Deviation | Promise<Deviation>;

/** Runs every case at every endpoint and asserts this rejection and unchanged state. */
export async function rejectedEverywhere(
  t: Deno.TestContext,
  env: Environment,
  expected: Expected,
  cases: Readonly<Record<string, Case>>,
  endpoints?: readonly OAuthEndpoint[],
): Promise<void> {
  await everywhere(t, endpoints ?? await oauthEndpoints(env), cases, async (endpoint, deviate) => {
    await endpoint.ready();
    const deviation = await deviate(endpoint);
    await assertRejected(env, expected, () => endpoint.send(deviation));
  });
}

/** Runs every case at every endpoint and asserts success. */
export async function acceptedEverywhere(
  t: Deno.TestContext,
  env: Environment,
  cases: Readonly<Record<string, Case>>,
  endpoints?: readonly OAuthEndpoint[],
): Promise<void> {
  await everywhere(t, endpoints ?? await oauthEndpoints(env), cases, async (endpoint, deviate) => {
    await assertAccepted(endpoint, await endpoint.send(await deviate(endpoint)));
  });
}

async function everywhere(
  t: Deno.TestContext,
  endpoints: readonly OAuthEndpoint[],
  cases: Readonly<Record<string, Case>>,
  assertCase: (endpoint: OAuthEndpoint, deviate: Case) => Promise<void>,
): Promise<void> {
  for (const endpoint of endpoints) {
    for (const [name, deviate] of Object.entries(cases)) {
      await t.step(`${endpoint.name}: ${name}`, () => assertCase(endpoint, deviate));
    }
  }
}

/** Asserts a complete OAuth rejection and that the request changes no state. */
export async function assertRejected(
  env: Environment,
  expected: Expected,
  send: () => Promise<Response>,
): Promise<void> {
  await assertApiError(await unchanged(env, send), expected);
}

/** Asserts a complete OAuth rejection (RFC 6749 §5.2; contract FAPI-G12, FAPI-G13, FAPI-G23). */
export async function assertApiError(response: Response, expected: Expected): Promise<void> {
  const body = await rejectionOf(response);
  assertEquals([response.status, body.error], [...expected]);
  assertErrorMembers(body);
  const { headers } = response;
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("cache-control"), "no-store");
  assertMatch(headers.get("x-fapi-interaction-id") ?? "", UUID);
  assertEquals(headers.get("www-authenticate"), null); // contract FAPI-D3
  assertEquals(headers.get("set-cookie"), null);
}

/** Asserts a complete success response of an endpoint. */
export async function assertAccepted(
  endpoint: OAuthEndpoint,
  response: Response,
  scope = "payments",
): Promise<void> {
  const text = await response.text();
  assertEquals(response.status, endpoint.goodStatus, text);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  if (endpoint.name === "PAR") {
    const body = JSON.parse(text) as PushedRequest;
    assertEquals(Object.keys(body).sort(), ["expires_in", "request_uri"]);
    assertEquals(body.expires_in, 599);
    assertMatch(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
    return;
  }
  const { access_token: token, ...rest } = JSON.parse(text) as TokenAnswer;
  assertEquals(rest, { token_type: "DPoP", expires_in: 3600, scope });
  assertMatch(token, /^[A-Za-z0-9_-]{43}$/);
}

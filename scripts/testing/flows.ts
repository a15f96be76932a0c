/**
 * The nine steps of a payment by valid parties, one function each. Tests replace one step and take the others from
 * here. Steps assert no result: each returns the raw response or throws with it.
 */
import { compactDecrypt, decodeJwt } from "jose";
import {
  type Changes,
  clientAssertion,
  dpopProof,
  type JsonObject,
  payloadSignature,
  sealToPlatform,
  seconds,
  sha256,
  signJwt,
  withChanges,
} from "./jwts.ts";
import { type TestKey, testKey } from "./keys.ts";
import type { Participant } from "./participants.ts";
import { AUTH_URL, BASE_URL, type Environment } from "./environment.ts";

/** Form parameters; `undefined` omits one. */
export type FormChanges = Readonly<Record<string, string | undefined>>;

/** The environment that the steps need: in process, or a process of its own behind real TLS. */
export type FlowEnvironment = Pick<Environment, "now" | "tpp" | "bankA" | "bankB" | "api" | "browser">;

/** A token with the key it is bound to. */
export interface BoundToken {
  readonly token: string;
  readonly key: TestKey;
}

/** The PKCE verifier of a consent's flow. Each has its own, because a challenge is not accepted for a second code. */
export function verifierOf(consentId: string): Promise<string> {
  return sha256(`verifier of ${consentId}`);
}

/** A minimal consent request; with a debtor account the consent is implicit. */
export function consentBody(
  changes: { initiation?: JsonObject; data?: JsonObject; risk?: JsonObject } = {},
): Json {
  return {
    Data: withChanges({
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
    }, changes.data),
    Risk: changes.risk ?? {},
  };
}

// deno-lint-ignore no-explicit-any -- bodies are built and judged by tests
export type Json = any;

export const DEBTOR_ACCOUNT = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };

/** A POST of a form to an OAuth endpoint. */
export async function postForm(
  env: FlowEnvironment,
  path: string,
  form: FormChanges,
  as?: Participant,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(
    Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return await env.api(new Request(`${BASE_URL}${path}`, { method: "POST", body, headers }), as);
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
): Promise<Response> {
  const path = `/${bank}/token.oauth2/v1`;
  const dpop = proof ??
    await dpopProof(env, key ?? await dpopKey(), { method: "POST", url: `${BASE_URL}${path}` });
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
  const target = { method, url: `${BASE_URL}${path.split("?")[0]}`, accessToken: bound.token };
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
    new Request(`${BASE_URL}${path}`, init),
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
  body: Json = consentBody(),
  bank = "BANKA",
): Promise<Json> {
  const path = `/${bank}/domestic-payment-consents/v1`;
  return await good(call(env, env.tpp, bound, path, { body: JSON.stringify(body) }), 201);
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
): Promise<Response> {
  const good = await pushForm(env, client, bank, consentId);
  return await postForm(env, `/${bank}/par.oauth2/v1`, { ...good, ...form }, as, headers);
}

/** A browser: cookies of the browser host, no redirects followed. */
export class Browser {
  readonly cookies = new Map<string, string>();
  constructor(private readonly env: Pick<Environment, "browser">) {}

  /** Opens a URL of the browser host. */
  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(url.startsWith("/") ? `${AUTH_URL}${url}` : url, {
      ...init,
      redirect: "manual",
    });
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie !== "") request.headers.set("cookie", cookie);
    const response = await this.env.browser(request);
    this.keep(response);
    return response;
  }

  /** Stores the cookies that a response sets, and deletes those that it clears. */
  keep(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
      if (/;\s*max-age=0(;|$)/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

/** Opens the TPP's link; returns the response that redirects the browser to the bank. */
export function authorize(
  browser: Browser,
  client: Participant,
  requestUri: string,
  bank = "BANKA",
): Promise<Response> {
  const query = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  return browser.open(`/${bank}/authorization.oauth2?${query}`);
}

/** The contents of the handover JWT in a redirect to the bank (the signature is not checked here). */
export async function openHandover(
  bank: Participant,
  response: Response,
): Promise<{ header: JsonObject; claims: Json }> {
  const url = new URL(response.headers.get("location") ?? "");
  const recipient = bank.encryption ?? bank.transport;
  const { plaintext } = await compactDecrypt(
    url.searchParams.get("oAuthUrl") ?? "",
    await recipient.key.privateKey("decrypt"),
  );
  const jws = new TextDecoder().decode(plaintext);
  const header = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(jws.split(".")[0] ?? "", { alphabet: "base64url" })),
  );
  return { header, claims: decodeJwt(jws) };
}

/** The bank reports payer accounts. */
export async function putAccounts(
  env: FlowEnvironment,
  bank: Participant,
  consentId: string,
  accounts: Json = [{ ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" }],
  options: CallOptions & { data?: JsonObject; bound?: BoundToken } = {},
): Promise<Response> {
  const Data = withChanges({
    BankId: bank.orgId,
    ConsentId: consentId,
    Sub: "customer-1",
    DebtorAccount: accounts,
  }, options.data);
  const bound = options.bound ?? await clientToken(env, bank, bank.orgId);
  const path = `/${bank.orgId}/back-channel-auth/v1/${consentId}`;
  return await call(env, bank, bound, path, { method: "PUT", body: JSON.stringify({ Data }), ...options });
}

/** The claims of the bank's result JWT. */
export function returnClaims(
  env: FlowEnvironment,
  bank: Participant,
  handover: Json,
  changes: JsonObject = {},
): JsonObject {
  const iat = seconds(env);
  return withChanges({
    iss: bank.orgId,
    aud: AUTH_URL,
    iat,
    nbf: iat,
    exp: iat + 300,
    jti: crypto.randomUUID(),
    debtor_account_present: handover.debtor_account_present,
    ref_id: handover.ref_id,
    correlation_id: handover.correlation_id,
    bank_id: bank.orgId,
    status: "completed",
    status_code: "success",
    sub: "customer-1",
  }, changes);
}

/** The bank's return URL path, signed by the bank and encrypted to the platform. */
export async function returnPath(
  env: FlowEnvironment,
  bank: Participant,
  handover: Json,
  changes: Changes = {},
): Promise<string> {
  const jws = await signJwt(
    bank.signing,
    returnClaims(env, bank, handover, changes.claims),
    changes.header,
  );
  return `/${bank.orgId}/authorization.sca.oauth2?${new URLSearchParams({
    oAuthUrl: await sealToPlatform(env, jws),
  })}`;
}

/** Posts a decision on the platform's consent screen, which is open at `location`. */
export async function decide(
  browser: Browser,
  location: string,
  decision: "accept" | "refuse",
  account = "0",
): Promise<Response> {
  const html = await (await browser.open(location)).text();
  const csrf = /name="csrf"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="csrf"/.exec(html);
  const body = new URLSearchParams({ csrf: csrf?.[1] ?? csrf?.[2] ?? "", decision, account });
  return await browser.open(location, { method: "POST", body });
}

/** A flow whose customer is at the bank. */
export interface AtBank {
  readonly browser: Browser;
  readonly bank: Participant;
  readonly bound: BoundToken;
  readonly consentId: string;
  readonly requestUri: string;
  readonly handover: Json;
}

/** Steps 1 to 5: creates a consent and redirects its customer to the bank. */
export async function toBank(
  env: FlowEnvironment,
  { bank = env.bankA, body = consentBody(), form = {}, headers = {} }: {
    bank?: Participant;
    body?: Json;
    form?: FormChanges;
    /** Headers of the pushed request. */
    headers?: Record<string, string>;
  } = {},
): Promise<AtBank> {
  const bound = await clientToken(env, env.tpp, bank.orgId);
  const consentId = (await createConsent(env, bound, body, bank.orgId)).Data.ConsentId;
  const pushed = await good(push(env, consentId, { bank: bank.orgId, form, headers }), 201);
  const browser = new Browser(env);
  const departure = await authorize(browser, env.tpp, pushed.request_uri, bank.orgId);
  const handover = (await openHandover(bank, departure)).claims;
  return { browser, bank, bound, consentId, requestUri: pushed.request_uri, handover };
}

/** Step 6: the customer accepts, on the consent screen if there is one; returns the redirect to the TPP. */
export async function authorise(env: FlowEnvironment, flow: AtBank): Promise<Response> {
  const explicit = flow.handover.debtor_account_present === "false";
  if (explicit) await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const answer = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  const location = answer.headers.get("location") ?? "";
  return location.includes("/authorization.consent.oauth2")
    ? await decide(flow.browser, location, "accept")
    : answer;
}

/** The code in a redirect to the TPP. */
export function codeOf(response: Response): string {
  const code = new URL(response.headers.get("location") ?? "").searchParams.get("code");
  if (code === null) throw new Error(`no code: ${response.status} ${response.headers.get("location")}`);
  return code;
}

/** Redeems a code; returns the raw response. */
export async function redeem(
  env: FlowEnvironment,
  flow: { consentId: string; code: string },
  { client = env.tpp, bank = "BANKA", form = {}, key, proof, headers = {} }: {
    client?: Participant;
    bank?: string;
    form?: FormChanges;
    key?: TestKey;
    proof?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const good = {
    grant_type: "authorization_code",
    scope: undefined,
    code: flow.code,
    redirect_uri: client.redirectUris[0],
    code_verifier: await verifierOf(flow.consentId),
  };
  const bound = key ?? await dpopKey();
  return await requestToken(env, client, bank, {
    form: { ...good, ...form },
    key: bound,
    ...(proof === undefined ? {} : { proof }),
    headers,
  });
}

/** Steps 1 to 7: an authorised consent and its payment token. */
export async function authorised(
  env: FlowEnvironment,
  options: Parameters<typeof toBank>[1] = {},
): Promise<AtBank & { payment: BoundToken; body: Json }> {
  const body = options.body ?? consentBody();
  const flow = await toBank(env, { ...options, body });
  const code = codeOf(await authorise(env, flow));
  const answer = await good(
    redeem(env, { consentId: flow.consentId, code }, { bank: flow.bank.orgId }),
    200,
  );
  return { ...flow, body, payment: { token: answer.access_token, key: await dpopKey() } };
}

/** The payment request that matches a consent request. */
export function paymentBody(consentId: string, body: Json = consentBody()): Json {
  return { Data: { ConsentId: consentId, Initiation: body.Data.Initiation }, Risk: body.Risk };
}

/** Step 8: gives the raw answer. */
export function pay(
  env: FlowEnvironment,
  flow: { consentId: string; payment: BoundToken; body: Json; bank?: Participant },
  options: CallOptions = {},
): Promise<Response> {
  const path = `/${(flow.bank ?? env.bankA).orgId}/domestic-payments/v1`;
  return call(env, env.tpp, flow.payment, path, {
    body: JSON.stringify(paymentBody(flow.consentId, flow.body)),
    ...options,
  });
}

/** The JSON of an answer with this status; throws with the answer otherwise. */
export async function good(answer: Promise<Response> | Response, status: number): Promise<Json> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== status) throw new Error(`wanted ${status}, got ${response.status}: ${text}`);
  return JSON.parse(text);
}

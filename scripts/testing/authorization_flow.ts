/**
 * The steps of an authorization by valid parties: the customer's browser, the bank, and the redemption of the code. Steps
 * assert no result: each returns the raw response or throws with it.
 */
import { compactDecrypt, decodeJwt } from "jose";
import { type Changes, type JsonObject, sealToPlatform, seconds, signJwt, withChanges } from "./jwts.ts";
import { type TestKey } from "./keys.ts";
import type { Participant } from "./participants.ts";
import { addressesOf } from "./addresses.ts";
import { type Environment } from "./environment.ts";
import type { AnswerOf, PayerAccounts, TokenAnswer } from "./answers.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  type FlowEnvironment,
  type FormChanges,
  good,
  push,
  requestToken,
  type SentConsent,
  verifierOf,
} from "./flows.ts";
import { Cookies } from "./cookies.ts";
import { sharedToken } from "./shared_token.ts";

/** A browser: cookies of the browser host, no redirects followed. */
export class Browser {
  readonly cookies = new Cookies();
  constructor(private readonly env: Pick<Environment, "browser" | "addresses">) {}

  /** Opens a URL of the browser host. */
  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(url.startsWith("/") ? `${addressesOf(this.env).authUrl}${url}` : url, {
      ...init,
      redirect: "manual",
    });
    if (this.cookies.size > 0) request.headers.set("cookie", this.cookies.header());
    const response = await this.env.browser(request);
    this.cookies.keep(response.headers);
    return response;
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

/** The claims of the handover JWT (contract HO1 to HO10). */
export type HandoverClaims = {
  readonly iss: string;
  readonly aud: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly debtor_account_present: "true" | "false";
  readonly ref_id: string;
  readonly act: { readonly sub: string; readonly registration_no: string };
  readonly correlation_id: string;
  readonly transaction_digest: string;
  readonly ui_locales?: string;
};

/** The claims that the bank's result repeats. */
export type HandedOver =
  & Pick<HandoverClaims, "correlation_id" | "debtor_account_present" | "ref_id">
  & Partial<Pick<HandoverClaims, "transaction_digest">>;

/** The contents of the handover JWT in a redirect to the bank (the signature is not checked here). */
export async function openHandover(
  bank: Participant,
  response: Response,
): Promise<{ header: JsonObject; claims: HandoverClaims }> {
  const location = response.headers.get("location");
  if (location === null) {
    const words = (await response.text()).replaceAll(/<style.*?<\/style>|<[^>]*>|\s+/gs, " ");
    throw new Error(`no redirect to the bank: ${response.status} ${words.slice(0, 500)}`);
  }
  const url = new URL(location);
  const recipient = bank.encryption ?? bank.transport;
  const { plaintext } = await compactDecrypt(
    url.searchParams.get("oAuthUrl") ?? "",
    await recipient.key.privateKey("decrypt"),
  );
  const jws = new TextDecoder().decode(plaintext);
  const head = Uint8Array.fromBase64(jws.split(".")[0] ?? "", { alphabet: "base64url" });
  const header = JSON.parse(new TextDecoder().decode(head)) as JsonObject;
  return { header, claims: decodeJwt<HandoverClaims>(jws) };
}

/** The bank reports payer accounts. */
export async function putAccounts(
  env: FlowEnvironment,
  bank: Participant,
  consentId: string,
  accounts: readonly unknown[] = [{ ...DEBTOR_ACCOUNT, Balance: "1000.00", Currency: "EUR" }],
  options: CallOptions & { data?: JsonObject; bound?: BoundToken } = {},
): Promise<AnswerOf<PayerAccounts>> {
  const Data = withChanges({
    BankId: bank.orgId,
    ConsentId: consentId,
    Sub: "customer-1",
    DebtorAccount: accounts,
  }, options.data);
  const bound = options.bound ?? await sharedToken(env, bank, bank.orgId);
  const path = `/${bank.orgId}/back-channel-auth/v1/${consentId}`;
  return await call(env, bank, bound, path, { method: "PUT", body: JSON.stringify({ Data }), ...options });
}

/** The claims of the bank's result JWT. Bank A proves dynamic linking, and the others know nothing of it. */
export function returnClaims(
  env: FlowEnvironment,
  bank: Participant,
  handover: HandedOver,
  changes: JsonObject = {},
): JsonObject {
  const iat = seconds(env);
  return withChanges({
    iss: bank.orgId,
    aud: addressesOf(env).authUrl,
    iat,
    nbf: iat,
    exp: iat + 300,
    jti: crypto.randomUUID(),
    debtor_account_present: handover.debtor_account_present,
    ref_id: handover.ref_id,
    correlation_id: handover.correlation_id,
    transaction_digest: bank.orgId === "BANKA" ? handover.transaction_digest : undefined,
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
  handover: HandedOver,
  changes: Changes = {},
): Promise<string> {
  const jws = await signJwt(bank.signing, returnClaims(env, bank, handover, changes.claims), changes.header);
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
  readonly handover: HandoverClaims;
}

/** Steps 1 to 5: creates a consent and redirects its customer to the bank, to `bankUrl`. */
export async function toBank(
  env: FlowEnvironment,
  { bank = env.bankA, body = consentBody(), form = {}, headers = {} }: {
    bank?: Participant;
    body?: SentConsent;
    form?: FormChanges;
    /** Headers of the pushed request. */
    headers?: Record<string, string>;
  } = {},
): Promise<AtBank & { readonly bankUrl: string }> {
  const bound = await sharedToken(env, env.tpp, bank.orgId);
  const consentId = (await createConsent(env, bound, body, bank.orgId)).Data.ConsentId;
  const pushed = await good(push(env, consentId, { bank: bank.orgId, form, headers }), 201);
  const browser = new Browser(env);
  const departure = await authorize(browser, env.tpp, pushed.request_uri, bank.orgId);
  const handover = (await openHandover(bank, departure)).claims;
  const bankUrl = departure.headers.get("location") ?? "";
  return { browser, bank, bound, consentId, requestUri: pushed.request_uri, bankUrl, handover };
}

/** Step 6: the customer accepts, on the consent screen if there is one; returns the redirect to the TPP. */
export async function authorise(
  env: FlowEnvironment,
  flow: Pick<AtBank, "browser" | "bank" | "consentId" | "handover">,
  accounts?: readonly unknown[],
): Promise<Response> {
  const explicit = flow.handover.debtor_account_present === "false";
  if (explicit) await good(putAccounts(env, flow.bank, flow.consentId, accounts), 200);
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
): Promise<AnswerOf<TokenAnswer>> {
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
): Promise<AtBank & { payment: BoundToken; body: SentConsent }> {
  const body = options.body ?? consentBody();
  const flow = await toBank(env, { ...options, body });
  const code = codeOf(await authorise(env, flow));
  const answer = await good(redeem(env, { consentId: flow.consentId, code }, { bank: flow.bank.orgId }), 200);
  return { ...flow, body, payment: { token: answer.access_token, key: await dpopKey() } };
}

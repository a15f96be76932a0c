/** The valid parts that mistakes are made with. Each is made once, if it is not used up. */
import { authentication, type BoundToken, call, clientToken, createConsent, good } from "../testing/flows.ts";
import { type CallOptions, consentBody, type FlowEnvironment, type FormChanges } from "../testing/flows.ts";
import { dpopKey, type Json, pay, paymentBody, postForm, push } from "../testing/flows.ts";
import { type AtBank, authorised, toBank } from "../testing/authorization_flow.ts";
import { type Changes, clientAssertion, dpopProof, payloadSignature } from "../testing/jwts.ts";
import { testKey } from "../testing/keys.ts";
import { BASE_URL } from "../testing/environment.ts";

export interface Workbench {
  readonly env: FlowEnvironment;
  /** A client credentials token of the TPP at bank A. */
  token(): Promise<BoundToken>;
  /** A client credentials token of bank A. */
  bankToken(): Promise<BoundToken>;
  /** A consent of the TPP at bank A that awaits authorisation. */
  consent(): Promise<string>;
  /** An authorised consent with a payment token that no mistake uses up. */
  payable(): Promise<Payable>;
}

export type Payable = Awaited<ReturnType<typeof authorised>>;

export function openWorkbench(env: FlowEnvironment): Workbench {
  const token = once(() => clientToken(env, env.tpp));
  return {
    env,
    token,
    bankToken: once(() => clientToken(env, env.bankA)),
    consent: once(async () => (await createConsent(env, await token())).Data.ConsentId),
    payable: once(() => authorised(env)),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

export const TOKEN_PATH = "/BANKA/token.oauth2/v1";
export const CONSENTS = "/BANKA/domestic-payment-consents/v1";
export const PAYMENTS = "/BANKA/domestic-payments/v1";

/** A token request of the TPP with changed form parameters, assertion or proof. */
export async function tokenRequest(
  { env }: Workbench,
  { form = {}, assertion = {}, proof, headers = {}, as = env.tpp }: {
    readonly form?: FormChanges;
    readonly assertion?: Changes;
    readonly proof?: string | null;
    readonly headers?: Record<string, string>;
    readonly as?: FlowEnvironment["tpp"];
  },
): Promise<Response> {
  const target = { method: "POST", url: BASE_URL + TOKEN_PATH };
  const dpop = proof === undefined ? await dpopProof(env, await dpopKey(), target) : proof;
  const given = {
    grant_type: "client_credentials",
    scope: "payments",
    ...await authentication(env, env.tpp, "BANKA", assertion),
    ...form,
  };
  return await postForm(env, TOKEN_PATH, given, as, { ...(dpop === null ? {} : { dpop }), ...headers });
}

/** A token request whose client assertion is changed. */
export function asserting(bench: Workbench, assertion: Changes): Promise<Response> {
  return tokenRequest(bench, { assertion });
}

/** A read of a consent by the TPP with changed parts. */
export async function reading(bench: Workbench, options: CallOptions = {}): Promise<Response> {
  const path = `${CONSENTS}/${await bench.consent()}`;
  return await call(bench.env, bench.env.tpp, await bench.token(), path, options);
}

/** A new consent with a changed body, headers or signature. */
export async function consenting(
  bench: Workbench,
  body: Json,
  options: CallOptions = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await call(bench.env, bench.env.tpp, await bench.token(), CONSENTS, { body: text, ...options });
}

export {
  type AtBank,
  call,
  clientAssertion,
  consentBody,
  dpopProof,
  pay,
  payloadSignature,
  paymentBody,
  push,
  testKey,
  toBank,
};
export { dpopKey, good };

/** The valid parts that mistakes are made with. Each is made once, if it is not used up. */
import type { Traces } from "testing/answers.ts";
import type { PushEnvironment } from "support/orders.ts";
import {
  authentication,
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  createConsent,
  dpopKey,
  type FormChanges,
  good,
  pay,
  postForm,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type Changes, dpopProof, type ProofTarget } from "testing/jwts.ts";
import { type Addresses, addressesOf } from "testing/addresses.ts";
import type { Participant } from "testing/participants.ts";

export interface Workbench {
  readonly env: PushEnvironment;
  readonly addresses: Addresses;
  /** A client credentials token of the TPP at bank A. */
  token(): Promise<BoundToken>;
  /** A client credentials token of bank A. */
  bankToken(): Promise<BoundToken>;
  /** A consent of the TPP at bank A that awaits authorisation. */
  consent(): Promise<string>;
  /** An authorised consent with a payment token that no mistake uses up. */
  payable(): Promise<Payable>;
  /** The id of a payment at bank A. */
  payment(): Promise<string>;
  /** The faults in the traces of bank A. `rest` is behind `/traces/v1`. */
  tracesOfBank(rest: string): Promise<readonly string[]>;
}

export type Payable = Awaited<ReturnType<typeof authorised>>;

export function workbenchOf(env: PushEnvironment): Workbench {
  const token = once(() => clientToken(env, env.tpp));
  const bankToken = once(() => clientToken(env, env.bankA));
  return {
    env,
    addresses: addressesOf(env),
    token,
    bankToken,
    consent: once(async () => (await createConsent(env, await token())).Data.ConsentId),
    payable: once(() => authorised(env)),
    payment: once(async () => {
      const made = await good(pay(env, await authorised(env)), 201);
      return made.Data.DomesticPaymentId;
    }),
    async tracesOfBank(rest) {
      await env.platform.writeTraces();
      const answer = call(env, env.bankA, await bankToken(), `/traces/v1${rest}`);
      const { Data } = await good<Traces>(answer, 200);
      return Data.Trace.flatMap(({ Rejection }) => Rejection?.Message ?? []);
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

export const TOKEN_PATH = "/BANKA/token.oauth2/v1";
export const CONSENTS = "/BANKA/domestic-payment-consents/v1";
export const PAYMENTS = "/BANKA/domestic-payments/v1";

/** Method and address of the proof of a token request. */
export function tokenTarget({ addresses }: Workbench): ProofTarget {
  return { method: "POST", url: addresses.baseUrl + TOKEN_PATH };
}

/** A token request of the TPP with changed form parameters, assertion or proof. */
export async function tokenRequest(
  bench: Workbench,
  { form = {}, assertion = {}, proof, headers = {}, as = bench.env.tpp }: {
    readonly form?: FormChanges;
    readonly assertion?: Changes;
    readonly proof?: string | null;
    readonly headers?: Record<string, string>;
    readonly as?: Participant;
  },
): Promise<Response> {
  const { env } = bench;
  const dpop = proof === undefined ? await dpopProof(env, await dpopKey(), tokenTarget(bench)) : proof;
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
  body: unknown,
  options: CallOptions = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await call(bench.env, bench.env.tpp, await bench.token(), CONSENTS, { body: text, ...options });
}

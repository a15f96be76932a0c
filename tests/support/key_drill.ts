/**
 * Helpers for a change of keys under load: new keys certified beside the old ones, an environment in which every
 * request takes time, and one whole payment.
 */
import { decodeProtectedHeader } from "jose";
import { type CertificatesAdded, firstOf, present } from "testing/answers.ts";
import {
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  type FlowEnvironment,
  good,
  pay,
  push,
} from "testing/flows.ts";
import { authorise, authorize, Browser, codeOf, openHandover, redeem } from "testing/authorization_flow.ts";
import { asTestKey, type TestKey } from "testing/keys.ts";
import { adminCall, type CertifiedKey, type Participant, signingRequest } from "testing/participants.ts";
import type { Environment } from "testing/environment.ts";

/** The uses of participants' keys. */
export type Purpose = "signing" | "transport" | "encryption";

/** A TPP and a bank with the keys that they use. */
export interface Pair {
  readonly tpp: Participant;
  readonly bank: Participant;
}

/** A new key. */
export async function freshKey(): Promise<TestKey> {
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const shape = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const pair = await crypto.subtle.generateKey({ ...algorithm, ...shape }, true, ["sign", "verify"]);
  const { n = "", e = "", d = "", p = "", q = "", dp = "", dq = "", qi = "" } = await crypto.subtle.exportKey(
    "jwk",
    pair.privateKey,
  );
  return asTestKey({ kty: "RSA", n, e, d, p, q, dp, dq, qi });
}

/** Certifies fresh keys for these purposes beside the old ones; gives the participant with the new ones in use. */
export async function withNewKeys(
  env: Environment,
  who: Participant,
  purposes: readonly Purpose[],
): Promise<Participant> {
  const keys = await Promise.all(purposes.map(async (purpose) => [purpose, await freshKey()] as const));
  const csrs = Object.fromEntries(
    await Promise.all(
      keys.map(async ([purpose, key]) => [purpose, await signingRequest(key, `${who.name} ${purpose}`)]),
    ),
  );
  const { jwks } = await good<CertificatesAdded>(
    adminCall(env, "POST", `/participants/${who.orgId}/certificates`, { csrs }),
    201,
  );
  const certified = keys.map(([purpose, key]): [Purpose, CertifiedKey] => {
    const { kid, x5c: [certificate = ""] } = firstOf(jwks.keys.filter(({ n }) => n === key.publicJwk.n));
    return [purpose, { key, kid, certificate }];
  });
  return { ...who, ...Object.fromEntries(certified) };
}

/** The environment as these two see it: steps of `flows.ts` act as them. */
export function seenBy(env: FlowEnvironment, { tpp, bank }: Pair): FlowEnvironment {
  const { bankB, api, browser } = env;
  return {
    get now(): number {
      return env.now;
    },
    tpp,
    bankA: bank,
    bankB,
    api,
    browser,
  };
}

/** An environment in which every request takes time. `reached` resolves when it is so late. */
export interface TickingEnvironment extends FlowEnvironment {
  tickMs: number;
  reached(time: number): Promise<void>;
}

/** Wraps an environment: each request to either host moves the clock by `tickMs`. */
export function ticking(env: Environment, tickMs: number): TickingEnvironment {
  const { tpp, bankA, bankB } = env;
  const waiting = new Set<() => void>();
  const tick = (): void => {
    env.now += wrapped.tickMs;
    for (const look of [...waiting]) look();
  };
  const wrapped: TickingEnvironment = {
    get now(): number {
      return env.now;
    },
    tickMs,
    tpp,
    bankA,
    bankB,
    api: (request, as) => (tick(), env.api(request, as)),
    browser: (request) => (tick(), env.browser(request)),
    reached: (time) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (env.now < time) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  return wrapped;
}

/** One payment of the demo, from token to order. `keys`: those that the bank can open a handover JWT with. */
export async function payOnce(
  env: FlowEnvironment,
  keys: readonly CertifiedKey[],
  kind: "implicit" | "explicit",
): Promise<{
  readonly sealedTo: string;
  /** Environment time before and after the request that sealed. */
  readonly sealing: { readonly from: number; readonly until: number };
  readonly status: string;
}> {
  const bound = await clientToken(env, env.tpp);
  const initiation = kind === "implicit" ? { DebtorAccount: DEBTOR_ACCOUNT } : {};
  const body = consentBody({ initiation });
  const { ConsentId: consentId } = (await createConsent(env, bound, body)).Data;
  const { request_uri: requestUri } = await good(push(env, consentId), 201);
  const browser = new Browser(env);
  const from = env.now;
  const departure = await authorize(browser, env.tpp, requestUri);
  const sealing = { from, until: env.now };
  const sealedTo = kidSealedTo(departure);
  const encryption = keys.find(({ kid }) => kid === sealedTo);
  if (encryption === undefined) throw new Error(`sealed to ${sealedTo}, which the bank has not`);
  const bank = { ...env.bankA, encryption };
  const handover = (await openHandover(bank, departure)).claims;
  const code = codeOf(await authorise(env, { browser, bank, consentId, handover }));
  const { access_token: token } = await good(redeem(env, { consentId, code }), 200);
  const payment = { token, key: await dpopKey() };
  const made = await good(pay(env, { consentId, payment, body }), 201);
  return { sealedTo, sealing, status: made.Data.Status };
}

/** The kid in the JWE header of a handover JWT. */
export function kidSealedTo(departure: Response): string {
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  return present(decodeProtectedHeader(sealed).kid);
}

/**
 * What a change of keys under load needs: fresh keys certified beside the old ones, a world in which every request
 * takes time, and one whole payment.
 */
import {
  authorise,
  authorize,
  Browser,
  clientToken,
  codeOf,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  type FlowWorld,
  good,
  type Json,
  openHandover,
  pay,
  push,
  redeem,
} from "../../scripts/testing/flows.ts";
import type { TestKey } from "../../scripts/testing/keys.ts";
import {
  adminCall,
  type CertifiedKey,
  type Participant,
  signingRequest,
} from "../../scripts/testing/participants.ts";
import type { World } from "../../scripts/testing/environment.ts";

/** What participants' keys are for. */
export type Purpose = "signing" | "transport" | "encryption";

/** A TPP and a bank with the keys that they use. */
export interface Pair {
  readonly tpp: Participant;
  readonly bank: Participant;
}

/** A key that nobody has seen before. */
export async function freshKey(): Promise<TestKey> {
  const algorithm = { name: "RSA-PSS", hash: "SHA-256" };
  const shape = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const pair = await crypto.subtle.generateKey({ ...algorithm, ...shape }, true, ["sign", "verify"]);
  const { kty: _, alg: _alg, key_ops: _ops, ext: _ext, ...members }: Json = await crypto.subtle.exportKey(
    "jwk",
    pair.privateKey,
  );
  const privateJwk = { kty: "RSA" as const, ...members };
  const publicJwk = { kty: "RSA" as const, n: privateJwk.n, e: privateJwk.e };
  const imported = (jwk: JsonWebKey, use: "sign" | "decrypt" | "verify" | "encrypt"): Promise<CryptoKey> => {
    const name = use === "sign" || use === "verify" ? "RSA-PSS" : "RSA-OAEP";
    return crypto.subtle.importKey("jwk", { ...jwk }, { name, hash: "SHA-256" }, true, [use]);
  };
  return {
    publicJwk,
    privateJwk,
    privateKey: (use) => imported(privateJwk, use),
    publicKey: (use) => imported(publicJwk, use),
  };
}

/** Certifies fresh keys for these purposes beside the old ones; gives the participant with the new ones in use. */
export async function withNewKeys(
  world: World,
  who: Participant,
  purposes: readonly Purpose[],
): Promise<Participant> {
  const keys = await Promise.all(purposes.map(async (purpose) => [purpose, await freshKey()] as const));
  const csrs = Object.fromEntries(
    await Promise.all(
      keys.map(async ([purpose, key]) => [purpose, await signingRequest(key, `${who.name} ${purpose}`)]),
    ),
  );
  const { jwks } = await good(
    adminCall(world, "POST", `/participants/${who.orgId}/certificates`, { csrs }),
    201,
  );
  const certified = keys.map(([purpose, key]): [Purpose, CertifiedKey] => {
    const { kid, x5c } = jwks.keys.find(({ n }: { n: string }) => n === key.publicJwk.n);
    return [purpose, { key, kid, certificate: x5c[0] }];
  });
  return { ...who, ...Object.fromEntries(certified) };
}

/** The world as these two see it: steps of `flows.ts` act as them. */
export function seenBy(world: FlowWorld, { tpp, bank }: Pair): FlowWorld {
  const { bankB, api, browser } = world;
  return {
    get now(): number {
      return world.now;
    },
    tpp,
    bankA: bank,
    bankB,
    api,
    browser,
  };
}

/** A world in which every request takes time. `reached` resolves when it is so late. */
export interface TickingWorld extends FlowWorld {
  tickMs: number;
  reached(time: number): Promise<void>;
}

/** Wraps a world: each request to either host moves the clock by `tickMs`. */
export function ticking(world: World, tickMs: number): TickingWorld {
  const { tpp, bankA, bankB } = world;
  const waiting = new Set<() => void>();
  const tick = (): void => {
    world.now += wrapped.tickMs;
    for (const look of [...waiting]) look();
  };
  const wrapped: TickingWorld = {
    get now(): number {
      return world.now;
    },
    tickMs,
    tpp,
    bankA,
    bankB,
    api: (request, as) => (tick(), world.api(request, as)),
    browser: (request) => (tick(), world.browser(request)),
    reached: (time) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (world.now < time) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  return wrapped;
}

/** One payment of the demo, from token to order. `keys`: those that the bank can open a hand-over with. */
export async function payOnce(
  world: FlowWorld,
  keys: readonly CertifiedKey[],
  kind: "implicit" | "explicit",
): Promise<{
  readonly sealedTo: string;
  /** World time before and after the request that sealed. */
  readonly sealing: { readonly from: number; readonly until: number };
  readonly status: string;
}> {
  const bound = await clientToken(world, world.tpp);
  const initiation = kind === "implicit" ? { DebtorAccount: DEBTOR_ACCOUNT } : {};
  const body = consentBody({ initiation });
  const { ConsentId: consentId } = (await createConsent(world, bound, body)).Data;
  const { request_uri: requestUri } = await good(push(world, consentId), 201);
  const browser = new Browser(world);
  const from = world.now;
  const departure = await authorize(browser, world.tpp, requestUri);
  const sealing = { from, until: world.now };
  const sealedTo = kidSealedTo(departure);
  const encryption = keys.find(({ kid }) => kid === sealedTo);
  if (encryption === undefined) throw new Error(`sealed to ${sealedTo}, which the bank has not`);
  const bank = { ...world.bankA, encryption };
  const handover = (await openHandover(bank, departure)).claims;
  const code = codeOf(await authorise(world, { browser, bank, bound, consentId, requestUri, handover }));
  const { access_token: token } = await good(redeem(world, { consentId, code }), 200);
  const payment = { token, key: await dpopKey() };
  const made = await good(pay(world, { consentId, payment, body }), 201);
  return { sealedTo, sealing, status: made.Data.Status };
}

/** The kid in the JWE header of a hand-over. */
export function kidSealedTo(departure: Response): string {
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  return JSON.parse(atob((sealed.split(".")[0] ?? "").replaceAll("-", "+").replaceAll("_", "/"))).kid;
}

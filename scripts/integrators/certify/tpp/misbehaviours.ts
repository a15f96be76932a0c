/** The misbehaviours of the platform that the front can play. */
import { calculateJwkThumbprint, CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { OBIE_CLAIM, SIGNATURE_ALG } from "../../../../src/client/party/profile.ts";
import { signPayload } from "../../../../src/client/party/payload_signature.ts";
import { openSigner } from "../../../../src/client/party/signer.ts";
import type { Endpoint } from "./exchange.ts";
import type { Misbehaviour } from "./front.ts";

type Change = (answer: Response) => Response | Promise<Response>;

/** A JSON answer of the platform, as the front changes it. */
export type AnswerBody = Readonly<Record<string, unknown>> & {
  readonly Data?: Readonly<Record<string, unknown>>;
  readonly keys?: readonly unknown[];
};

/** Requests of an endpoint with a method. `first`: how many of them; default: all. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly method?: "GET" | "POST";
  readonly first?: number;
}

/** Changes what the platform answers to these requests. */
export function changed({ endpoint, method, first = Infinity }: Target, change: Change): Misbehaviour {
  return (exchange, before, forward) => {
    if (exchange.endpoint !== endpoint || before >= first) return undefined;
    if (method !== undefined && exchange.method !== method) return undefined;
    return forward().then(change);
  };
}

/** The platform processes these requests, but the connection breaks before its answer. */
export function lost(target: Target): Misbehaviour {
  return changed(target, async (answer) => {
    await answer.body?.cancel();
    return new Response(
      new ReadableStream({
        start: (controller) => controller.error(new Error("the front breaks the connection off")),
      }),
    );
  });
}

/** These requests do not reach the platform and get this answer. */
export function answered(
  { endpoint, method, first = Infinity }: Target,
  answer: () => Response | Promise<Response>,
): Misbehaviour {
  return (exchange, before) => {
    if (exchange.endpoint !== endpoint || before >= first) return undefined;
    if (method !== undefined && exchange.method !== method) return undefined;
    return Promise.resolve(answer());
  };
}

/** Several misbehaviours: the first that concerns a request. */
export function each(...misbehaviours: readonly Misbehaviour[]): Misbehaviour {
  return (exchange, before, forward) => {
    for (const misbehaviour of misbehaviours) {
      const answer = misbehaviour(exchange, before, forward);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
}

async function jsonOf(answer: Response): Promise<AnswerBody> {
  return JSON.parse(await answer.text()) as AnswerBody;
}

/** The answer with another body. Its signature stays. */
export function withBody(change: (body: AnswerBody) => unknown): Change {
  return async (answer) => sameHeaders(answer, JSON.stringify(change(await jsonOf(answer))));
}

/** The answer without its signature. */
export async function withoutSignature(answer: Response): Promise<Response> {
  const response = sameHeaders(answer, await answer.text());
  response.headers.delete("x-jws-signature");
  return response;
}

/** A key that signs answers. */
export interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
  /** As it would stand in the platform's key set. */
  readonly published: JWK;
}

/** A new key that the platform does not have. */
export async function newSigningKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(SIGNATURE_ALG, { modulusLength: 2048 });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, key: privateKey, published: { ...jwk, kid, use: "sig", alg: SIGNATURE_ALG } };
}

/** The platform's own signing key. `json` is its private key set. @throws {Error} if it has none */
export async function platformSigningKey(json: string): Promise<SigningKey> {
  const { keys } = JSON.parse(json) as { readonly keys: readonly JWK[] };
  const jwk = keys.find(({ use }) => use === "sig");
  if (jwk?.kid === undefined) throw new Error("the platform has no signing key");
  const key = await importJWK({ ...jwk, alg: SIGNATURE_ALG }, SIGNATURE_ALG);
  if (key instanceof Uint8Array) throw new TypeError("an RSA key was expected");
  return { kid: jwk.kid, key, published: jwk };
}

/** The answer, changed and signed again. */
export function signedBy(
  { kid, key }: Pick<SigningKey, "kid" | "key">,
  change: (body: AnswerBody) => unknown = (body) => body,
): Change {
  return async (answer) => {
    if (answer.headers.get("x-jws-signature") === null) return answer;
    const body = JSON.stringify(change(await jsonOf(answer)));
    const response = sameHeaders(answer, body);
    const signer = {
      ...await openSigner(kid, key),
      iss: "certifier",
      tan: "certifier",
      profile: "b",
    } as const;
    const signature = await signPayload(signer, new TextEncoder().encode(body), Date.now());
    response.headers.set("x-jws-signature", signature);
    return response;
  };
}

/** A JSON answer of the front's own, signed by a key of the platform. */
export async function signedAnswer(key: SigningKey, status: number, body: unknown): Promise<Response> {
  return await signedBy(key)(answer(status, body, { "x-jws-signature": "to be replaced" }));
}

/** The answer, changed and signed with RS256 by a key of the platform. */
export function signedWithRs256(platform: SigningKey, change: (body: AnswerBody) => unknown): Change {
  return async (answer) => {
    const body = JSON.stringify(change(await jsonOf(answer)));
    const response = sameHeaders(answer, body);
    const key = await importJWK({ ...platform.published, alg: "RS256" }, "RS256");
    const obie = Object.values(OBIE_CLAIM);
    const header = {
      alg: "RS256",
      kid: platform.kid,
      [OBIE_CLAIM.iat]: Math.floor(Date.now() / 1000),
      [OBIE_CLAIM.iss]: "certifier",
      [OBIE_CLAIM.tan]: "certifier",
      crit: obie,
    };
    const signed = await new CompactSign(new TextEncoder().encode(body)).setProtectedHeader(header)
      .sign(key, { crit: Object.fromEntries(obie.map((name) => [name, true])) });
    const [first, , last] = signed.split(".");
    response.headers.set("x-jws-signature", `${first}..${last}`);
    return response;
  };
}

/** A JSON answer of the front's own, with these headers. */
export function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

function sameHeaders(answer: Response, body: string): Response {
  const headers = new Headers(answer.headers);
  headers.delete("content-length");
  return new Response(body, { status: answer.status, headers });
}

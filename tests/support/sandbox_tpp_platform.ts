/**
 * A platform double for TPP tests, in memory: answers each endpoint with a fixed valid response, or with a test's
 * replacement. It verifies no input, so that the TPP's own decisions can be tested without a network.
 */
import { testKey } from "testing/keys.ts";
import type { HttpRequest } from "../../src/client/party/http_request.ts";
import { type PayloadSigner, signPayload } from "../../src/client/party/payload_signature.ts";
import { openSigner, type Signer } from "../../src/client/party/signer.ts";
import type { Tpp } from "../../src/client/tpp/tpp.ts";
import type { TppSource } from "../../src/sandbox/developer/signers.ts";

/** One request that the TPP made. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * A TPP connected to the double, everything it sent, and the answers to give instead of the good ones, by
 * path.
 */
export interface TppEnvironment {
  readonly tpp: Tpp;
  readonly seen: SeenRequest[];
  readonly answers: Map<string, (() => Response | Promise<Response>)[]>;
}

export const baseUrl = "https://api.example";
export const authUrl = "https://auth.example";
export const shopUrl = "https://shop.example";
export const consentId = "0b8f8ba5-6f46-4c43-8c77-6a4a3a4f1f10";
export const paymentId = "5d2c5b1e-31a5-4b52-9d6e-2b8e5b0b7a11";
export const accessToken = "secret-access-token-secret-access-token-000";
export const requestUri = "urn:ietf:params:oauth:request_uri:secret-request-uri-secret-request-uri-00000";

const goodAnswers: Readonly<Record<string, () => Response>> = {
  "/.well-known/oauth-authorization-server/BANKA": () =>
    json(200, {
      issuer: `${authUrl}/BANKA`,
      authorization_endpoint: `${authUrl}/BANKA/authorization.oauth2`,
      token_endpoint: `${baseUrl}/BANKA/token.oauth2/v1`,
      pushed_authorization_request_endpoint: `${baseUrl}/BANKA/par.oauth2/v1`,
    }),
  "/BANKA/token.oauth2/v1": () =>
    json(200, { access_token: accessToken, token_type: "DPoP", expires_in: 3600, scope: "payments" }),
  "/BANKA/par.oauth2/v1": () => json(201, { request_uri: requestUri, expires_in: 599 }),
  "/BANKA/event-subscriptions/v1": () => json(201, { Data: { Version: "4.0" } }),
  "/BANKA/domestic-payment-consents/v1": () =>
    json(201, { Data: { ConsentId: consentId, Status: "AwaitingAuthorisation" } }),
  "/BANKA/domestic-payments/v1": () => paymentAnswer(201, "AcceptedSettlementInProcess"),
  [`/BANKA/domestic-payments/v1/${paymentId}`]: () => paymentAnswer(200, "AcceptedSettlementInProcess"),
};

/** A JSON answer. */
export function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

/** A payment in this status. */
export function paymentAnswer(status: number, paymentStatus: string, more: object = {}): Response {
  const Data = {
    ...more,
    DomesticPaymentId: paymentId,
    ConsentId: consentId,
    Status: paymentStatus,
    StatusUpdateDateTime: "2026-01-31T12:00:00+00:00",
  };
  return json(status, { Data });
}

/** The same answer, which the double does not sign. */
export function unsigned(answer: Response): Response {
  answer.headers.set("x-unsigned", "yes");
  return answer;
}

/** A new environment. Pool key 0 signs, key 1 is the DPoP key, and key 2 is the platform's. */
export async function openTppEnvironment(): Promise<TppEnvironment> {
  const [signing, dpop, platform] = await Promise.all([testKey(0), testKey(1), testKey(2)]);
  const signer: PayloadSigner = {
    ...await openSigner("platform", await platform.privateKey("sign")),
    iss: "platform",
    tan: "directory.example",
    profile: "a",
  };
  const keys = [{ ...platform.publicJwk, kid: signer.kid, use: "sig", alg: "PS256" }];
  const dpopKeys = { privateKey: await dpop.privateKey("sign"), publicKey: await dpop.publicKey("verify") };
  const seen: SeenRequest[] = [];
  const answers: TppEnvironment["answers"] = new Map();
  const fetch = async (url: string, request: HttpRequest): Promise<Response> => {
    const path = new URL(url).pathname;
    if (path === "/jwks" && !answers.has(path)) return json(200, { keys });
    const headers = new Headers(request.headers);
    seen.push({ method: request.method, path, headers, body: request.body?.toString() ?? "" });
    const answer =
      await (answers.get(path)?.shift() ?? goodAnswers[path] ?? ((): Response => json(404, {})))();
    return await signed(answer, path, signer);
  };
  return {
    tpp: tppWith(await openSigner("kid-1", await signing.privateKey("sign")), dpopKeys, fetch),
    seen,
    answers,
  };
}

const SIGNED = /\/(domestic-payment|event)/;

/** Contract SG6. An answer that a test has signed or marked stays as it is. */
async function signed(answer: Response, path: string, signer: PayloadSigner): Promise<Response> {
  const { headers, status, ok } = answer;
  const isLeft = headers.has("x-jws-signature") || headers.has("x-unsigned");
  if (!ok || isLeft || !SIGNED.test(path)) return answer;
  const body = new Uint8Array(await answer.arrayBuffer());
  headers.set("x-jws-signature", await signPayload(signer, body, Date.now()));
  return new Response(body, { status, headers });
}

function tppWith(signer: Signer, dpopKeys: CryptoKeyPair, fetch: Tpp["fetch"]): Tpp {
  const softwareClientId = "SC-2f6e6d0c-64b0-4f5b-9a53-6f0c1c2d3e4f";
  return {
    participant: {
      orgId: "ORG-1",
      orgName: "Shop Ltd",
      softwareClientId,
      clientId: softwareClientId,
      redirectUris: [`${shopUrl}/callback`],
      signer,
      softwareStatement: "",
    },
    baseUrl,
    authUrl,
    redirectUri: `${shopUrl}/callback`,
    signer: { ...signer, iss: `ORG-1/${softwareClientId}`, tan: "directory.example", profile: "b" },
    dpopKeys,
    fetch,
    now: Date.now,
    close: (): void => {},
  };
}

/** The TPPs of a sandbox without others than its shop. */
export function shopAlone(tpp: Tpp): TppSource {
  return {
    names: () => Promise.resolve(["shop"]),
    open: () => Promise.resolve(tpp),
    make: () => Promise.reject(new Error("No TPP is made here.")),
  };
}

/**
 * Adapters for public OAuth client libraries: a `fetch` into the environment, keys and clock, and a customer with a
 * bank who returns the browser. The libraries take every URL from metadata; this file names no endpoint.
 */
import type { CryptoKeyPair } from "oauth4webapi";
import { authorise, Browser, openHandover } from "testing/authorization_flow.ts";
import { payloadSignature } from "testing/jwts.ts";
import type { TestKey } from "testing/keys.ts";
import type { Participant } from "testing/participants.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";

/** A `fetch` of the environment for one participant: the API host over mutual TLS, the browser host without. */
export function environmentFetch(
  env: Environment,
  as: Participant,
): (url: string, init: object) => Promise<Response> {
  return (url, init) => {
    const request = new Request(url, init);
    const { origin } = new URL(url);
    if (origin === BASE_URL) return env.api(request, as);
    if (origin === AUTH_URL) return env.browser(request);
    throw new TypeError(`no such host: ${origin}`);
  };
}

/** How far the environment's clock is ahead of this computer's, seconds: the libraries take the computer's. */
export function clockSkew(env: Environment): number {
  return Math.floor((env.now - Date.now()) / 1000);
}

/** A pool key as the libraries want it. */
export async function keyPair(key: TestKey): Promise<CryptoKeyPair> {
  return { privateKey: await key.privateKey("sign"), publicKey: await key.publicKey("verify") };
}

/** A participant's signing key as the libraries want it for client authentication. */
export async function assertionKey({ signing }: Participant): Promise<{ key: CryptoKey; kid: string }> {
  return { key: await signing.key.privateKey("sign"), kid: signing.kid };
}

/** The headers of a signed POST, the DPoP ones aside. */
export async function signedHeaders(env: Environment, signer: Participant, body: string): Promise<Headers> {
  return new Headers({
    "content-type": "application/json",
    "x-idempotency-key": crypto.randomUUID(),
    "x-jws-signature": await payloadSignature(env, signer, body),
  });
}

/** Opens an authorization URL in a fresh browser; the customer agrees at the bank. Gives the URL at the TPP. */
export async function customerAgrees(
  env: Environment,
  url: URL,
  { bank, consentId }: { bank: Participant; consentId: string },
): Promise<URL> {
  const browser = new Browser(env);
  const handover = (await openHandover(bank, await browser.open(url.href))).claims;
  return callbackOf(await authorise(env, { browser, bank, consentId, handover }));
}

/** The URL at the TPP that an answer sends the browser to. */
export function callbackOf(answer: Response): URL {
  return new URL(answer.headers.get("location") ?? "");
}

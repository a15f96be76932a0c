/** A network between TPPs and the platform's API that loses or changes one answer. */
import * as jose from "jose";
import { type PlatformKeys, present } from "testing/answers.ts";
import type { PlatformFront } from "../../src/sandbox/ecosystem/ecosystem.ts";

/** Changes an answer of the platform. */
export type Fault = (answer: Response) => Response | Promise<Response>;

/** A request that the platform got. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** The network. */
export interface FaultyNetwork {
  readonly front: PlatformFront;
  /** Applies the fault to the next answer to a request whose path ends so. Forgets the requests that were seen. */
  arm(path: string, fault: Fault): void;
  /** The requests with that path since then. */
  seen(): readonly SeenRequest[];
}

/** Opens a network without a fault. */
export function openFaultyNetwork(): FaultyNetwork {
  let armed: { path: string; fault: Fault | undefined } = { path: "none", fault: undefined };
  let seen: SeenRequest[] = [];
  return {
    front: {
      async handle(host, request, platform) {
        const path = new URL(request.url).pathname;
        if (host !== "api" || !path.endsWith(armed.path)) return await platform(request);
        const body = await request.clone().text();
        seen.push({ path, headers: request.headers, body });
        const answer = await platform(request);
        const { fault } = armed;
        armed = { ...armed, fault: undefined };
        return fault === undefined ? answer : await fault(answer);
      },
    },
    arm(path, fault) {
      armed = { path, fault };
      seen = [];
    },
    seen: () => seen,
  };
}

/** The proxy answers that it got no answer, after the platform has done what was asked. */
export async function lost(answer: Response): Promise<Response> {
  await answer.body?.cancel();
  return new Response("Bad gateway", { status: 502, headers: { "retry-after": "1" } });
}

/** The answer with another body and the signature of the first one. */
export function changedBody(change: (body: string) => string): Fault {
  return async (answer) => new Response(change(await answer.text()), answer);
}

export function unsigned(answer: Response): Response {
  const headers = new Headers(answer.headers);
  headers.delete("x-jws-signature");
  return new Response(answer.body, { status: answer.status, headers });
}

/** The platform's signing key, with which a sandbox's test forges what the platform never signs. */
export async function platformKey(dir: string): Promise<jose.JWK> {
  const { keys } = JSON.parse(await Deno.readTextFile(`${dir}/platform-keys.json`)) as PlatformKeys;
  return present(keys.find(({ use }) => use === "sig"));
}

/** The answer with another signature over a body, which may be another one. */
export function signedAnew(
  jwk: jose.JWK,
  header: Readonly<Record<string, unknown>>,
  change: (body: string) => string | Promise<string> = (body) => body,
): Fault {
  return async (answer) => {
    const body = await change(await answer.text());
    const signature = await sign(jwk, { alg: "PS256", ...header }, body);
    const headers = new Headers(answer.headers);
    headers.set("x-jws-signature", signature.replace(/\.[^.]*\./, ".."));
    return new Response(body, { status: answer.status, headers });
  };
}

/** Returns a compact JWS. The header is taken as it is, however wrong. */
export async function sign(jwk: jose.JWK, header: object, payload: string): Promise<string> {
  const { alg } = header as { alg: string };
  const algorithm = alg === "RS256"
    ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
    : { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 };
  const { kty, n, e, d, p, q, dp, dq, qi } = jwk;
  const key = await crypto.subtle.importKey(
    "jwk",
    { kty, n, e, d, p, q, dp, dq, qi } as JsonWebKey,
    algorithm,
    false,
    ["sign"],
  );
  const isRaw = "b64" in header;
  const segment = jose.base64url.encode(JSON.stringify({ kid: jwk.kid, ...header }));
  const input = `${segment}.${isRaw ? payload : jose.base64url.encode(payload)}`;
  const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(input));
  return `${segment}.${jose.base64url.encode(payload)}.${jose.base64url.encode(new Uint8Array(signature))}`;
}

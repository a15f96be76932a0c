/**
 * The platform's answers to a bank, behind an injected fetch: key set, token endpoint, back channel. It records what a bank
 * sends and answers as the test says. `banks_environment.ts` has the real platform, which verifies each call.
 */
import { signPayload } from "../../src/client/party/payload_signature.ts";
import { openSigner } from "../../src/client/party/signer.ts";
import type { TestKey } from "testing/keys.ts";

export const AUTH_URL = "http://localhost:8441";
export const BASE_URL = "https://localhost:8440";
/** kid of the double's signing key unless a test rotates it. */
export const PLATFORM_KID = "platformSigningKidOf27Chars";

/** A call of a resource endpoint. */
export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signatureHeader: unknown;
}

/** State and settings; tests change the settings while the environment runs. */
export interface PlatformDouble {
  readonly signing: TestKey;
  readonly encryption: TestKey;
  /** Signing keys of the banks by code. */
  readonly bankSigning: Readonly<Record<string, TestKey>>;
  nowMs: number;
  /** `Data.Initiation` of the consent that banks read. */
  initiation: Record<string, unknown>;
  /** Status that replaces the response of a resource call. */
  statusFor: (method: string, path: string) => number | undefined;
  kid: string;
  /** Status of the key set's answer. */
  keySetStatus: number;
  keySetRequests: number;
  /** Bank codes, one per token issued. */
  readonly tokenRequests: string[];
  readonly calls: SeenCall[];
}

/** Answers one request of a bank. */
export async function answerBank(double: PlatformDouble, url: string, init: RequestInit): Promise<Response> {
  if (url === `${AUTH_URL}/jwks`) return keySet(double);
  const answer = answerCall(double, url, init);
  return answer.ok ? await signed(double, answer) : answer;
}

/** Contract SG6. */
async function signed({ signing, kid, nowMs }: PlatformDouble, answer: Response): Promise<Response> {
  const body = new Uint8Array(await answer.arrayBuffer());
  const signer = await openSigner(kid, await signing.privateKey("sign"));
  const signature = await signPayload(
    { ...signer, iss: AUTH_URL, tan: "d.example", profile: "a" },
    body,
    nowMs,
  );
  answer.headers.set("x-jws-signature", signature);
  return new Response(body, { headers: answer.headers });
}

function keySet(double: PlatformDouble): Response {
  double.keySetRequests += 1;
  const { kid, signing, encryption } = double;
  const init = { status: double.keySetStatus };
  return Response.json({
    keys: [
      { ...signing.publicJwk, kid, use: "sig", alg: "PS256", x5t: kid },
      { ...encryption.publicJwk, kid: "platform-enc", use: "enc", alg: "RSA-OAEP-256" },
    ],
  }, init);
}

function answerCall(double: PlatformDouble, url: string, init: RequestInit): Response {
  const [, code = "", path = ""] = /^https:\/\/localhost:8440\/([A-Z]+)(\/.*)$/.exec(url) ?? [];
  if (path === "/token.oauth2/v1") {
    double.tokenRequests.push(code);
    const access_token = crypto.randomUUID();
    return Response.json({ access_token, token_type: "DPoP", expires_in: 3600, scope: "bank" });
  }
  const { method = "GET" } = init;
  const headers = new Headers(init.headers);
  const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
  double.calls.push({ method, path, headers, body, signatureHeader: protectedHeader(headers) });
  const status = double.statusFor(method, path);
  if (status === 401) {
    return new Response(null, { status, headers: { "www-authenticate": 'DPoP error="invalid_token"' } });
  }
  if (status !== undefined) return new Response(null, { status });
  return Response.json(method === "GET" ? { Data: { Initiation: double.initiation }, Risk: {} } : body);
}

function protectedHeader(headers: Headers): unknown {
  const [header] = headers.get("x-jws-signature")?.split(".") ?? [];
  if (header === undefined) return undefined;
  return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(header, { alphabet: "base64url" })));
}

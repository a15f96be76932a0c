/**
 * A double of the platform for banks, behind an injected fetch: key set, token endpoint, back channel. It verifies a
 * bank's calls as the real platform does (client assertion, DPoP, payload signature) and throws if one is wrong. It
 * stores no consents.
 */
import { calculateJwkThumbprint, EmbeddedJWK, flattenedVerify, jwtVerify } from "jose";
import type { TestKey } from "testing/keys.ts";

export const AUTH_URL = "http://localhost:8441";
export const BASE_URL = "https://localhost:8440";
/** kid of the double's signing key unless a test rotates it. */
export const PLATFORM_KID = "platformSigningKidOf27Chars";

/** A verified call of a resource endpoint. */
export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signatureHeader: Readonly<Record<string, unknown>> | undefined;
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
  readonly tokens: Map<string, string>;
  readonly usedIds: Set<string>;
}

/** Answers one request of a bank. */
export async function answerBank(double: PlatformDouble, url: string, init: RequestInit): Promise<Response> {
  if (url === `${AUTH_URL}/jwks`) return keySet(double);
  const [, code = "", path = ""] = /^https:\/\/localhost:8440\/([A-Z]+)(\/.*)$/.exec(url) ?? [];
  const signer = double.bankSigning[code];
  if (signer === undefined) throw new Error(`nothing at ${url}`);
  const headers = new Headers(init.headers);
  const call = { code, path, url, method: init.method ?? "GET", headers, signer };
  return path === "/token.oauth2/v1"
    ? await issueToken(double, call, new URLSearchParams(String(init.body)))
    : await answerResource(
      double,
      call,
      typeof init.body === "string" ? new TextEncoder().encode(init.body) : undefined,
    );
}

interface BankCall {
  readonly code: string;
  readonly path: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signer: TestKey;
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

async function issueToken(double: PlatformDouble, call: BankCall, form: URLSearchParams): Promise<Response> {
  const clientId = `SC-${call.code}`;
  const { payload } = await jwtVerify(
    form.get("client_assertion") ?? "",
    await call.signer.publicKey("verify"),
    { algorithms: ["PS256"], issuer: clientId, subject: clientId, currentDate: new Date(double.nowMs) },
  );
  if (payload.aud !== `${AUTH_URL}/${call.code}`) throw new Error("aud is not the issuer");
  if (form.get("scope") !== "bank") throw new Error("scope");
  useOnce(double, payload.jti);
  const { jkt } = await checkProof(double, call);
  const token = crypto.randomUUID();
  double.tokens.set(token, `${call.code} ${jkt}`);
  double.tokenRequests.push(call.code);
  return Response.json({ access_token: token, token_type: "DPoP", expires_in: 3600, scope: "bank" });
}

async function answerResource(double: PlatformDouble, call: BankCall, body?: Uint8Array): Promise<Response> {
  const { method, path, headers, signer } = call;
  const token = (headers.get("authorization") ?? "").replace(/^DPoP /, "");
  const { jkt, ath } = await checkProof(double, call);
  if (ath !== await sha256(token)) throw new Error("ath");
  if (double.tokens.get(token) !== `${call.code} ${jkt}`) {
    throw new Error("token is not bound to this bank and key");
  }
  const signatureHeader = body && await checkSignature(headers.get("x-jws-signature") ?? "", body, signer);
  const parsed: unknown = body && JSON.parse(new TextDecoder().decode(body));
  double.calls.push({ method, path, headers, body: parsed, signatureHeader });
  const status = double.statusFor(method, path);
  if (status === 401) {
    return new Response(null, { status, headers: { "www-authenticate": 'DPoP error="invalid_token"' } });
  }
  if (status !== undefined) return new Response(null, { status });
  return Response.json(method === "GET" ? { Data: { Initiation: double.initiation }, Risk: {} } : parsed);
}

async function checkProof(
  double: PlatformDouble,
  { method, url, headers }: BankCall,
): Promise<{ readonly jkt: string; readonly ath: unknown }> {
  const { payload, protectedHeader: { jwk } } = await jwtVerify(headers.get("dpop") ?? "", EmbeddedJWK, {
    algorithms: ["PS256"],
    typ: "dpop+jwt",
    currentDate: new Date(double.nowMs),
  });
  if (jwk === undefined || payload["htm"] !== method || payload["htu"] !== url) {
    throw new Error("jwk, htm or htu");
  }
  if (payload.iat !== Math.floor(double.nowMs / 1000)) throw new Error("iat is not by the banks' clock");
  useOnce(double, payload.jti);
  return { jkt: await calculateJwkThumbprint(jwk), ath: payload["ath"] };
}

function useOnce({ usedIds }: PlatformDouble, id: unknown): void {
  if (typeof id !== "string" || usedIds.has(id)) throw new Error(`jti ${id} is no fresh id`);
  usedIds.add(id);
}

async function checkSignature(
  signature: string,
  body: Uint8Array,
  signer: TestKey,
): Promise<Readonly<Record<string, unknown>>> {
  const [header = "", middle, value = ""] = signature.split(".");
  if (middle !== "") throw new Error("signature is not detached");
  const text = new TextDecoder().decode(Uint8Array.fromBase64(header, { alphabet: "base64url" }));
  const members = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const payload = members["b64"] === false ? body : base64url(body);
  const crit = ["iat", "iss", "tan"].map((name) => [`http://openbanking.org.uk/${name}`, true]);
  await flattenedVerify({ protected: header, payload, signature: value }, await signer.publicKey("verify"), {
    algorithms: ["PS256"],
    crit: Object.fromEntries(crit),
  });
  return members;
}

async function sha256(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

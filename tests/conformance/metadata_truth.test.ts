/**
 * Metadata tells the truth: of each member, every value that anybody might expect works exactly if it is listed. The
 * lists are read from the document, so that a value added to the document or to the code alone fails here.
 */
import { z } from "zod";
import { assertEquals } from "@std/assert";
import { CompactSign, exportJWK, generateKeyPair } from "jose";
import type { OAuthError, ServerMetadata } from "testing/answers.ts";
import { authentication, dpopKey, good, push, requestToken } from "testing/flows.ts";
import {
  type AtBank,
  authorise,
  authorize,
  Browser,
  codeOf,
  putAccounts,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { type JsonObject, seconds } from "testing/jwts.ts";
import { awaitingConsent } from "testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

/** The allowed values of a member, and how to try one. */
interface Member {
  readonly values: readonly string[];
  readonly attempt: (env: Environment, value: string) => Promise<Response>;
}

const TOKEN_PATH = "/BANKA/token.oauth2/v1";
const ALGORITHMS = [
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "EdDSA",
  "Ed25519",
  "HS256",
  "none",
];
const GRANT_URNS = ["jwt-bearer", "saml2-bearer", "device_code", "token-exchange"]
  .map((name) => `urn:ietf:params:oauth:grant-type:${name}`);

const MEMBERS: Readonly<Record<string, Member>> = {
  scopes_supported: {
    values: ["payments", "bank", "openid", "profile", "accounts", "fundsconfirmations", "offline_access"],
    attempt: (env, scope) => requestToken(env, env.tpp, "BANKA", { form: { scope } }),
  },
  response_types_supported: {
    values: ["code", "token", "id_token", "none", "code token", "code id_token", "code id_token token"],
    attempt: async (env, response_type) => push(env, await awaitingConsent(env), { form: { response_type } }),
  },
  response_modes_supported: {
    values: ["query", "fragment", "form_post", "jwt", "query.jwt", "fragment.jwt", "form_post.jwt"],
    attempt: async (env, response_mode) => push(env, await awaitingConsent(env), { form: { response_mode } }),
  },
  code_challenge_methods_supported: {
    values: ["S256", "plain", "S512"],
    attempt: async (env, code_challenge_method) =>
      push(env, await awaitingConsent(env), { form: { code_challenge_method } }),
  },
  ui_locales_supported: { values: ["en", "es", "fr", "ar", "de", "pt", "zh"], attempt: shownIn },
  grant_types_supported: {
    values: [
      "authorization_code",
      "client_credentials",
      "implicit",
      "password",
      "refresh_token",
      ...GRANT_URNS,
      "urn:openid:params:grant-type:ciba",
    ],
    attempt: grantedBy,
  },
  token_endpoint_auth_methods_supported: {
    values: [
      "private_key_jwt",
      "client_secret_basic",
      "client_secret_post",
      "client_secret_jwt",
      "tls_client_auth",
      "self_signed_tls_client_auth",
      "none",
    ],
    attempt: authenticatedBy,
  },
  token_endpoint_auth_signing_alg_values_supported: { values: ALGORITHMS, attempt: assertedBy },
  dpop_signing_alg_values_supported: {
    values: ALGORITHMS,
    attempt: async (env, alg) => {
      const claims = { htm: "POST", htu: `${BASE_URL}${TOKEN_PATH}`, iat: seconds(env) };
      const proof = await signedBy(alg, { typ: "dpop+jwt" }, claims, (await dpopKey()).privateJwk);
      return await requestToken(env, env.tpp, "BANKA", { proof });
    },
  },
};

test("GET metadata has no list but those that are tried here [MD-N7]", async ({ env }) => {
  const document = await metadataOf(env);
  const lists = Object.keys(document).filter((name) => Array.isArray(document[name]));
  assertEquals(lists.toSorted(), Object.keys(MEMBERS).toSorted());
});

test("GET metadata lists exactly the values that work [MD-N7, MD10] [FAPI-G5]", async ({ env, t }) => {
  const document = await metadataOf(env);
  for (const [name, { values, attempt }] of Object.entries(MEMBERS)) {
    const listed = z.array(z.string()).parse(document[name]);
    assertEquals(listed.filter((value) => !values.includes(value)), [], `${name} lists what is not tried`);
    for (const value of values) {
      await t.step(`${name}: ${value} ${listed.includes(value) ? "works" : "is rejected"}`, async () => {
        assertEquals(await works(await attempt(env, value)), listed.includes(value));
      });
    }
  }
});

test("GET metadata wants requests to be pushed, and answers carry iss as it says [MD-N7, AZ7]", async ({ env, t }) => {
  const document = await metadataOf(env);
  assertEquals(
    [document.require_pushed_authorization_requests, document.authorization_response_iss_parameter_supported],
    [true, true],
  );
  await t.step("not pushed", async () => {
    const answer = await authorize(new Browser(env), env.tpp, "");
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    await answer.body?.cancel();
  });
  const flow = await toBank(env);
  const rejected = await toBank(env);
  const rejection = await returnPath(env, rejected.bank, rejected.handover, {
    claims: { status_code: "failure" },
  });
  const answers = {
    "with a code": await authorise(env, flow),
    "with an error": await rejected.browser.open(rejection),
  };
  await steps(t, answers, (answer) => {
    const { searchParams, hash } = new URL(answer.headers.get("location") ?? "");
    assertEquals([searchParams.get("iss"), hash], [document.issuer, ""]);
  });
});

async function metadataOf(env: Environment): Promise<Readonly<Record<string, unknown>>> {
  const url = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
  return await good<ServerMetadata>(env.browser(new Request(url)), 200);
}

/** Whether it was granted; throws on anything but a clean rejection. */
async function works(answer: Response): Promise<boolean> {
  const body = await answer.json() as Partial<OAuthError>;
  if (answer.status === 200 || answer.status === 201) return true;
  if ((answer.status === 400 || answer.status === 401) && typeof body.error === "string") return false;
  throw new Error(`neither granted nor rejected: ${answer.status} ${JSON.stringify(body)}`);
}

/** 200 if the consent screen speaks the language that the pushed request named. */
async function shownIn(env: Environment, ui_locales: string): Promise<Response> {
  const flow = await toBank(env, { form: { ui_locales } });
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const back = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  const screen = await flow.browser.open(back.headers.get("location") ?? "");
  const speaks = (await screen.text()).includes(`<html lang="${ui_locales}"`);
  return Response.json({ error: "another language" }, { status: speaks ? 200 : 400 });
}

/** A token request with everything that the grant might want. */
async function grantedBy(env: Environment, grant_type: string): Promise<Response> {
  if (grant_type === "authorization_code") {
    const flow: AtBank = await toBank(env);
    return await redeem(env, { consentId: flow.consentId, code: codeOf(await authorise(env, flow)) });
  }
  const { client_assertion: assertion } = await authentication(env, env.tpp, "BANKA");
  const extras = { assertion, username: "alice", password: "sandbox", refresh_token: "r", device_code: "d" };
  return await requestToken(env, env.tpp, "BANKA", { form: { grant_type, ...extras } });
}

/** A token request by a client that authenticates in this way alone. */
async function authenticatedBy(env: Environment, method: string): Promise<Response> {
  const { clientId } = env.tpp;
  const nothing = { client_assertion: undefined, client_assertion_type: undefined };
  switch (method) {
    case "private_key_jwt":
      return await requestToken(env, env.tpp);
    case "client_secret_basic": {
      const headers = { authorization: `Basic ${btoa(`${clientId}:secret`)}` };
      return await requestToken(env, env.tpp, "BANKA", { form: nothing, headers });
    }
    case "client_secret_post":
      return await requestToken(env, env.tpp, "BANKA", { form: { ...nothing, client_secret: "secret" } });
    case "client_secret_jwt":
      return await assertedBy(env, "HS256");
    default: // by the certificate alone, or not authenticated
      return await requestToken(env, env.tpp, "BANKA", { form: nothing });
  }
}

/** A token request with a client assertion by this algorithm. */
async function assertedBy(env: Environment, alg: string): Promise<Response> {
  const { clientId, signing } = env.tpp;
  const iat = seconds(env);
  const claims = { iss: clientId, sub: clientId, aud: `${AUTH_URL}/BANKA`, iat, exp: iat + 60 };
  const client_assertion = await signedBy(alg, { kid: signing.kid }, claims, signing.key.privateJwk);
  return await requestToken(env, env.tpp, "BANKA", { form: { client_assertion } });
}

/** A JWT by this algorithm: RSA with the key given, others with a fresh key; a proof carries the public key. */
async function signedBy(alg: string, header: JsonObject, claims: JsonObject, rsa: object): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify({ ...claims, jti: crypto.randomUUID() }));
  const { key, jwk } = await signerOf(alg, rsa);
  const full = { alg, ...header, ...(header["typ"] === "dpop+jwt" ? { jwk } : {}) };
  if (key !== undefined) return await new CompactSign(payload).setProtectedHeader(full).sign(key);
  const encode = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  return `${encode(new TextEncoder().encode(JSON.stringify(full)))}.${encode(payload)}.`;
}

async function signerOf(
  alg: string,
  rsa: object,
): Promise<{ key: CryptoKey | Uint8Array | undefined; jwk: object }> {
  const { kty, n, e } = { kty: "RSA", n: "", e: "", ...rsa };
  if (alg === "none") return { key: undefined, jwk: { kty, n, e } };
  if (alg === "HS256") return { key: new TextEncoder().encode("secret".repeat(8)), jwk: { kty, n, e } };
  if (/^[RP]S/.test(alg)) {
    const name = alg.startsWith("P") ? "RSA-PSS" : "RSASSA-PKCS1-v1_5";
    const hash = `SHA-${alg.slice(2)}`;
    const key = await crypto.subtle.importKey("jwk", { ...rsa }, { name, hash }, false, ["sign"]);
    return { key, jwk: { kty, n, e } };
  }
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { key: privateKey, jwk: await exportJWK(publicKey) };
}

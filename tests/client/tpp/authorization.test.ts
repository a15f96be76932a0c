import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { decodeJwt, decodeProtectedHeader } from "jose";
import * as oauth from "oauth4webapi";
import {
  checkCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "../../../src/client/tpp/authorization.ts";
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow } from "../../../src/client/tpp/payment_journey.ts";
import {
  authUrl,
  baseUrl,
  consentId,
  json,
  openTppEnvironment,
  requestUri,
  shopUrl,
} from "support/sandbox_tpp_platform.ts";
import { steps } from "support/steps.ts";
import { lastRequest, openEnvironmentAndFlow } from "./tpp_client.ts";

const issuer = `${authUrl}/BANKA`;

Deno.test("openFlow rejects metadata that leads elsewhere", async (t) => {
  const good = {
    issuer,
    authorization_endpoint: `${authUrl}/BANKA/authorization.oauth2`,
    token_endpoint: `${baseUrl}/BANKA/token.oauth2/v1`,
    pushed_authorization_request_endpoint: `${baseUrl}/BANKA/par.oauth2/v1`,
  };
  const cases: Readonly<Record<string, Record<string, string>>> = {
    "another issuer": { issuer: `${authUrl}/BANKB` },
    "an issuer spelled otherwise": { issuer: `${authUrl}:443/BANKA` },
    "a token endpoint elsewhere": { token_endpoint: "https://api.example.evil/BANKA/token.oauth2/v1" },
    "a PAR endpoint elsewhere": { pushed_authorization_request_endpoint: "https://evil.example/par" },
    "an authorization endpoint elsewhere": { authorization_endpoint: "https://evil.example/authorize" },
  };
  await steps(t, cases, async (wrong) => {
    const { tpp, answers } = await openTppEnvironment();
    answers.set("/.well-known/oauth-authorization-server/BANKA", [
      (): Response => json(200, { ...good, ...wrong }),
    ]);
    await assertRejects(() => openFlow(tpp, "BANKA", emptyMessageLog()));
  });
});

Deno.test("grantClientToken authenticates for the issuer alone and proves the DPoP key [A1, B]", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  await grantClientToken(flow);
  const { headers, body } = lastRequest(env, "/BANKA/token.oauth2/v1");
  const form = new URLSearchParams(body);
  assertEquals(form.get("grant_type"), "client_credentials");
  assertEquals(form.get("scope"), "payments");
  const assertion = form.get("client_assertion") ?? "";
  assertEquals(decodeProtectedHeader(assertion), { alg: "PS256", kid: "kid-1" });
  const claims = decodeJwt(assertion);
  assertEquals(claims.aud, issuer);
  assertEquals([claims.iss, claims.sub], [flow.client.client_id, flow.client.client_id]);
  const proof = headers.get("dpop") ?? "";
  assertEquals(decodeProtectedHeader(proof).typ, "dpop+jwt");
  assertEquals(decodeProtectedHeader(proof).alg, "PS256");
  assertEquals(decodeJwt(proof)["htu"], `${baseUrl}/BANKA/token.oauth2/v1`);
});

Deno.test("grantClientToken rejects a token that is not DPoP-bound", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const bearer = { access_token: "t", token_type: "Bearer", expires_in: 3600, scope: "payments" };
  env.answers.set("/BANKA/token.oauth2/v1", [(): Response => json(200, bearer)]);
  await assertRejects(() => grantClientToken(flow), Error, "not bound");
});

Deno.test("pushAuthorization sends S256, state, dpop_jkt and leads to client_id and request_uri alone", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const pending = await pushAuthorization(flow, consentId);
  const form = new URLSearchParams(lastRequest(env, "/BANKA/par.oauth2/v1").body);
  assertEquals(form.get("response_type"), "code");
  assertEquals(form.get("redirect_uri"), `${shopUrl}/callback`);
  assertEquals(form.get("code_challenge_method"), "S256");
  assertEquals(form.get("code_challenge"), await oauth.calculatePKCECodeChallenge(pending.codeVerifier));
  assertEquals(form.get("consent_id"), consentId);
  assertEquals(form.get("state"), pending.state);
  assertEquals(form.get("dpop_jkt"), await flow.dpop.calculateThumbprint());
  const url = new URL(pending.url);
  assertEquals(`${url.origin}${url.pathname}`, `${authUrl}/BANKA/authorization.oauth2`);
  assertEquals([...url.searchParams], [["client_id", flow.client.client_id], ["request_uri", requestUri]]);
});

Deno.test("checkCallback rejects a return that was not meant for this authorization", async (t) => {
  const { flow } = await openEnvironmentAndFlow();
  const pending = await pushAuthorization(flow, consentId);
  const { state } = pending;
  const cases: Readonly<Record<string, [string, string][]>> = {
    "no iss [RFC 9207 §2.4]": [["code", "c"], ["state", state]],
    "another bank's iss": [["code", "c"], ["state", state], ["iss", `${authUrl}/BANKB`]],
    "iss with a slash more": [["code", "c"], ["state", state], ["iss", `${issuer}/`]],
    "no state": [["code", "c"], ["iss", issuer]],
    "another state": [["code", "c"], ["state", "other"], ["iss", issuer]],
    "state twice": [["code", "c"], ["state", state], ["state", state], ["iss", issuer]],
    "iss twice": [["code", "c"], ["state", state], ["iss", issuer], ["iss", issuer]],
    "an error of another bank": [["error", "access_denied"], ["state", state], ["iss", `${authUrl}/BANKB`]],
    "neither code nor error": [["state", state], ["iss", issuer]],
    "a token": [["code", "c"], ["token", "t"], ["state", state], ["iss", issuer]],
  };
  await steps(t, cases, (query) => {
    const error = assertThrows(() => checkCallback(flow, pending, returning(query)), Error);
    assertEquals(error instanceof oauth.AuthorizationResponseError, false);
  });
});

Deno.test("checkCallback reports an authentic error as such", async () => {
  const { flow } = await openEnvironmentAndFlow();
  const pending = await pushAuthorization(flow, consentId);
  const callback = returning([["error", "access_denied"], ["state", pending.state], ["iss", issuer]]);
  const error = assertThrows(() => checkCallback(flow, pending, callback), oauth.AuthorizationResponseError);
  assertEquals(error.error, "access_denied");
});

Deno.test("exchangeCode sends code, verifier and redirect_uri with the flow's DPoP key", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const pending = await pushAuthorization(flow, consentId);
  await exchangeCode(flow, pending, checkCallback(flow, pending, goodReturn(pending)));
  const { body, headers } = lastRequest(env, "/BANKA/token.oauth2/v1");
  const form = new URLSearchParams(body);
  assertEquals(form.get("grant_type"), "authorization_code");
  assertEquals(form.get("code"), "the-code");
  assertEquals(form.get("code_verifier"), pending.codeVerifier);
  assertEquals(form.get("redirect_uri"), `${shopUrl}/callback`);
  assertEquals(await oauthThumbprint(headers), await flow.dpop.calculateThumbprint());
});

function returning(query: [string, string][]): URL {
  return new URL(`${shopUrl}/callback?${new URLSearchParams(query)}`);
}

function goodReturn({ state }: PendingAuthorization): URL {
  return returning([["code", "the-code"], ["state", state], ["iss", issuer]]);
}

/** RFC 7638 thumbprint of the key in a proof. */
async function oauthThumbprint(headers: Headers): Promise<string> {
  const { jwk } = decodeProtectedHeader(headers.get("dpop") ?? "");
  const canonical = JSON.stringify({ e: jwk?.e, kty: jwk?.kty, n: jwk?.n });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical));
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { decodeJwt, decodeProtectedHeader } from "jose";
import * as oauth from "oauth4webapi";
import {
  checkCallback,
  exchangeCode,
  grantClientToken,
  type PendingAuthorization,
  pushAuthorization,
} from "../../../src/client/tpp/authorization.ts";
import { createConsent, createPayment } from "../../../src/client/tpp/domestic_payments.ts";
import { ApiErrorResponse } from "../../../src/client/tpp/api_error.ts";
import { emptyMessageLog } from "../../../src/client/tpp/message_log.ts";
import { openFlow, type PaymentFlow } from "../../../src/client/tpp/payment_journey.ts";
import { isIban, paymentRequest } from "../../../src/client/tpp/payment_request.ts";
import { merchant } from "../../../src/sandbox/shop/catalogue.ts";
import {
  authUrl,
  baseUrl,
  consentId,
  json,
  openTppEnvironment,
  requestUri,
  type SeenRequest,
  shopUrl,
  type TppEnvironment,
} from "support/sandbox_tpp_platform.ts";
import { steps } from "support/steps.ts";

const issuer = `${authUrl}/BANKA`;
const purchase = { orderId: crypto.randomUUID(), description: "Lunch", amount: "12.50", merchant };

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

Deno.test("createConsent and createPayment send the same initiation and risk, signed, each with its own key", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const request = paymentRequest({ ...purchase, debtorIban: "GB33BUKB20201555555555" });
  const token = await grantClientToken(flow);
  await createConsent(flow, token, request);
  await createPayment(flow, token, { consentId, ...request });
  const consent = lastRequest(env, "/BANKA/domestic-payment-consents/v1");
  const payment = lastRequest(env, "/BANKA/domestic-payments/v1");
  const [asked, paid] = [JSON.parse(consent.body), JSON.parse(payment.body)];
  assertEquals(paid.Data, { ConsentId: consentId, Initiation: asked.Data.Initiation });
  assertEquals(paid.Risk, asked.Risk);
  assertEquals(asked.Data.ReadRefundAccount, "Yes");
  for (const { headers } of [consent, payment]) {
    assertEquals(headers.get("authorization"), `DPoP ${token.value}`);
    assertEquals(decodeProtectedHeader(headers.get("x-jws-signature") ?? "").kid, "kid-1");
    assert((headers.get("x-idempotency-key") ?? "").length <= 40);
  }
  const [consentKey, paymentKey] = [consent, payment].map(({ headers }) => headers.get("x-idempotency-key"));
  assert(consentKey !== paymentKey);
});

Deno.test("createPayment turns an OBIE rejection into its status, codes and one sentence", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const rejection = {
    Code: "400 BadRequest",
    Message: "no",
    Errors: [{ ErrorCode: "UK.OBIE.Resource.ConsentMismatch", Path: "Risk", Message: "differs" }],
  };
  env.answers.set("/BANKA/domestic-payments/v1", [(): Response => json(400, rejection)]);
  const token = await grantClientToken(flow);
  const error = await assertRejects(
    () => createPayment(flow, token, { consentId, ...paymentRequest(purchase) }),
    ApiErrorResponse,
    "400: UK.OBIE.Resource.ConsentMismatch (Risk) differs",
  );
  assertEquals([error.status, error.codes], [400, ["UK.OBIE.Resource.ConsentMismatch"]]);
});

Deno.test("createPayment turns a challenge without body into a rejection", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const challenge = { "www-authenticate": 'DPoP error="invalid_token", algs="PS256"' };
  const answer = (): Response => new Response(null, { status: 401, headers: challenge });
  env.answers.set("/BANKA/domestic-payments/v1", [answer]);
  const token = await grantClientToken(flow);
  const error = await assertRejects(
    () => createPayment(flow, token, { consentId, ...paymentRequest(purchase) }),
    ApiErrorResponse,
  );
  assertEquals([error.status, error.codes], [401, ["invalid_token"]]);
});

Deno.test("createConsent rejects an answer whose signature does not verify", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const answer = json(201, { Data: { ConsentId: consentId, Status: "AwaitingAuthorisation" } });
  answer.headers.set("x-jws-signature", "eyJhbGciOiJub25lIn0..AAAA");
  env.answers.set("/BANKA/domestic-payment-consents/v1", [(): Response => answer]);
  const token = await grantClientToken(flow);
  await assertRejects(() => createConsent(flow, token, paymentRequest(purchase)));
});

Deno.test("paymentRequest keeps every text within its length [CF14]", () => {
  const { initiation } = paymentRequest(purchase);
  assert(initiation.InstructionIdentification.length <= 35);
  assert(initiation.EndToEndIdentification.length <= 35);
  assert(initiation.RemittanceInformation.Reference.length <= 35);
  assertEquals("DebtorAccount" in initiation, false);
});

Deno.test("isIban checks form and check number", () => {
  for (const good of [merchant.iban, "GB33BUKB20201555555555", "DE89370400440532013000"]) {
    assert(isIban(good), good);
  }
  for (
    const bad of ["", "FR1420041010050500013M02607", "GB33 BUKB 2020 1555 5555 55", "gb33bukb20201555555555"]
  ) {
    assertEquals(isIban(bad), false, bad);
  }
});

async function openEnvironmentAndFlow(): Promise<{ env: TppEnvironment; flow: PaymentFlow }> {
  const env = await openTppEnvironment();
  return { env, flow: await openFlow(env.tpp, "BANKA", emptyMessageLog()) };
}

function lastRequest({ seen }: TppEnvironment, path: string): SeenRequest {
  const request = seen.findLast((candidate) => candidate.path === path);
  if (request === undefined) throw new Error(`nothing was sent to ${path}`);
  return request;
}

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

/**
 * Every place where the platform accepts a JWT, as targets of one table of attacks: the parts of a valid token there,
 * how to send it in an otherwise valid request, and the expected rejection.
 */
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { IMPLICIT, sealedReturn } from "testing/bank_return.ts";
import {
  type BoundToken,
  call,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  dpopKey,
  paymentBody,
} from "testing/flows.ts";
import { type AtBank, authorised, returnClaims, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer, assertPage } from "testing/front_channel.ts";
import { type JsonObject, type ProofTarget, seconds, thumbprint } from "testing/jwts.ts";
import { type TestKey, testKey } from "testing/keys.ts";
import {
  assertApiError,
  clientCredentials,
  codeGrant,
  type OAuthEndpoint,
  pushing,
} from "testing/oauth_requests.ts";
import { onboardOnly, type Participant, registrationClaims } from "testing/participants.ts";
import { NEWCOMER, postRegistration, registrationJwt } from "testing/registration.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import type { JwsParts, JwtPlace } from "./jwt_place.ts";
import { goodHeader } from "./signature_cases.ts";
import { AUTH_URL, BASE_URL, type Environment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

const OBIE_ISS = "http://openbanking.org.uk/iss";
const BAD_PROOF = 'DPoP error="invalid_dpop_proof", algs="PS256"';

export async function jwtPlaces(env: Environment): Promise<readonly JwtPlace[]> {
  return [
    ...await assertionPlaces(env),
    ...await proofPlaces(env),
    ...await registrationPlaces(env),
    await returnPlace(env),
    ...await signaturePlaces(env),
  ];
}

/** `client_assertion` with either grant, at PAR, and by a bank. */
export async function assertionPlaces(env: Environment): Promise<readonly JwtPlace[]> {
  const place = (endpoint: OAuthEndpoint, who = env.tpp): JwtPlace => ({
    name: `${endpoint.name}${who === env.tpp ? "" : " of a bank"}: client_assertion`,
    kind: "assertion",
    carrier: "form",
    who,
    parts() {
      const { key, kid } = who.signing;
      return Promise.resolve({ key, header: { alg: "PS256", kid }, payload: assertionOf(env, who) });
    },
    present: (client_assertion) => endpoint.send({ client: who, form: { client_assertion } }),
    rejects: (response) => assertApiError(response, [401, "invalid_client"]),
    takes: (response) => assertStatus(response, endpoint.goodStatus),
  });
  const code = codeGrant(env);
  await code.ready();
  return [
    place(clientCredentials(env)),
    place(code),
    place(await pushing(env)),
    place(clientCredentials(env), env.bankA),
  ];
}

/** The claims of a good client assertion for bank A. */
export function assertionOf(env: Environment, { clientId }: Participant): JsonObject {
  const iat = seconds(env);
  const aud = `${AUTH_URL}/BANKA`;
  return { iss: clientId, sub: clientId, aud, iat, nbf: iat, exp: iat + 60, jti: crypto.randomUUID() };
}

/** `DPoP` at the OAuth endpoints, and at a read, a write and a bank's read of the resource endpoints. */
export async function proofPlaces(env: Environment): Promise<readonly JwtPlace[]> {
  const key = await dpopKey();
  const code = codeGrant(env);
  await code.ready();
  const oauth = [clientCredentials(env), code, await pushing(env)].map((endpoint) =>
    oauthProofPlace(env, endpoint, key)
  );
  const bound = await sharedToken(env, env.tpp);
  const consentId = (await createConsent(env, bound)).Data.ConsentId;
  const consents = "/BANKA/domestic-payment-consents/v1";
  const body = JSON.stringify(consentBody());
  return [
    ...oauth,
    resourceProofPlace(env, env.tpp, bound, { path: `${consents}/${consentId}` }),
    resourceProofPlace(env, env.tpp, bound, { path: consents, body }),
    resourceProofPlace(env, env.bankA, await sharedToken(env, env.bankA), {
      path: `/BANKA/back-channel-auth/v1/${consentId}`,
    }),
  ];
}

function oauthProofPlace(env: Environment, endpoint: OAuthEndpoint, key: TestKey): JwtPlace {
  return {
    name: `${endpoint.name}: DPoP`,
    kind: "proof",
    carrier: "header",
    who: env.tpp,
    parts: () => proofParts(env, key, endpoint.target),
    present: (proof) => endpoint.send({ proof }),
    rejects: (response) => assertApiError(response, [400, "invalid_dpop_proof"]),
    takes: (response) => assertStatus(response, endpoint.goodStatus),
  };
}

function resourceProofPlace(
  env: Environment,
  who: Participant,
  bound: BoundToken,
  { path, body }: { readonly path: string; readonly body?: string },
): JwtPlace {
  const method = body === undefined ? "GET" : "POST";
  return {
    name: `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}: DPoP`,
    kind: "proof",
    carrier: "header",
    who,
    token: bound.token,
    parts: () => proofParts(env, bound.key, { method, url: BASE_URL + path, accessToken: bound.token }),
    present: (proof) => call(env, who, bound, path, { proof, ...(body === undefined ? {} : { body }) }),
    rejects: (response) => assertChallenge(response, 401, BAD_PROOF),
    takes: (response) => assertStatus(response, body === undefined ? 200 : 201),
  };
}

async function proofParts(env: Environment, key: TestKey, target: ProofTarget): Promise<JwsParts> {
  const ath = target.accessToken === undefined ? {} : { ath: await sha256(target.accessToken) };
  const claims = { htm: target.method, htu: target.url, iat: seconds(env), jti: crypto.randomUUID() };
  return {
    key,
    header: { alg: "PS256", typ: "dpop+jwt", jwk: key.publicJwk },
    payload: { ...claims, ...ath },
  };
}

/** The registration JWT, and the software statement inside one, of a newcomer; a statement a second newer than it has. */
export async function registrationPlaces(env: Environment): Promise<readonly JwtPlace[]> {
  const who = await onboardOnly(env, NEWCOMER);
  const directory = await testKey(14);
  const kid = await thumbprint(directory);
  return [{
    name: "POST register: registration JWT",
    kind: "registration",
    carrier: "body",
    who,
    parts: () =>
      Promise.resolve({
        key: who.signing.key,
        header: { alg: "PS256", typ: "JWT", kid: who.signing.kid },
        payload: registrationClaims(env, who),
      }),
    present: (body) => postRegistration(env, who, { body }),
    rejects: (response) => assertApiError(response, [400, "invalid_client_metadata"]),
    takes: (response) => assertStatus(response, 201),
  }, {
    name: "POST register: software_statement",
    kind: "statement",
    carrier: "inside",
    who,
    parts: () =>
      Promise.resolve({
        key: directory,
        header: { alg: "PS256", typ: "JWT", kid },
        payload: newer(who.statement),
      }),
    present: async (statement) =>
      postRegistration(env, who, { body: await registrationJwt(env, who, { statement }) }),
    rejects: (response) => assertApiError(response, [400, "invalid_software_statement"]),
    takes: (response) => assertStatus(response, 201),
  }];
}

/** A newer statement replaces an older one (Decision B6). */
function newer(statement: string): JsonObject {
  const claims = decodeJwt(statement);
  return { ...claims, iat: Number(claims.iat) + 1 };
}

/** The bank's JWT inside its envelope, which is well made. */
export async function returnPlace(env: Environment, given?: AtBank): Promise<JwtPlace> {
  const flow = given ?? await toBank(env, { body: IMPLICIT });
  const { key, kid } = env.bankA.signing;
  return {
    name: "GET authorization.sca.oauth2: the signed layer",
    kind: "return",
    carrier: "inside",
    who: env.bankA,
    parts: () =>
      Promise.resolve({
        key,
        header: { alg: "PS256", typ: "JWT", kid },
        payload: returnClaims(env, env.bankA, flow.handover),
      }),
    present: async (jws) => await flow.browser.open(await sealedReturn(env, "BANKA", jws)),
    rejects: async (response) => void await assertPage(response, 400, "not_authentic"),
    takes: async (response) => void await assertCodeAnswer(response),
  };
}

/** `x-jws-signature` of a TPP's consent and payment, and of a bank's account report. */
export async function signaturePlaces(env: Environment): Promise<readonly JwtPlace[]> {
  const paying = await authorised(env);
  const reporting = await toBank(env);
  const accounts = [{ ...DEBTOR_ACCOUNT, Balance: "1000.00" }];
  const report = {
    BankId: "BANKA",
    ConsentId: reporting.consentId,
    Sub: "customer-1",
    DebtorAccount: accounts,
  };
  const atBank = `/BANKA/back-channel-auth/v1/${reporting.consentId}`;
  return [
    signaturePlace(env, env.tpp, await sharedToken(env, env.tpp), {
      method: "POST",
      path: "/BANKA/domestic-payment-consents/v1",
      body: JSON.stringify(consentBody()),
    }),
    signaturePlace(env, env.tpp, paying.payment, {
      method: "POST",
      path: "/BANKA/domestic-payments/v1",
      body: JSON.stringify(paymentBody(paying.consentId)),
    }),
    signaturePlace(env, env.bankA, await sharedToken(env, env.bankA), {
      method: "PUT",
      path: atBank,
      body: JSON.stringify({ Data: report }),
    }),
  ];
}

function signaturePlace(
  env: Environment,
  who: Participant,
  bound: BoundToken,
  { method, path, body }: { readonly method: "POST" | "PUT"; readonly path: string; readonly body: string },
): JwtPlace {
  const { key, kid } = who.signing;
  return {
    name: `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}: x-jws-signature`,
    kind: "signature",
    carrier: "header",
    who,
    parts: () =>
      Promise.resolve({
        key,
        header: { ...goodHeader(env, "B"), kid, [OBIE_ISS]: `${who.orgId}/${who.clientId}` },
        payload: body,
      }),
    present: (signature) => call(env, who, bound, path, { method, body, signature }),
    rejects: (response, fault) => assertFaults(response, 400, [fault]),
    takes: (response) => assertStatus(response, method === "PUT" ? 200 : 201),
  };
}

async function assertStatus(response: Response, status: number): Promise<void> {
  const body = await response.text();
  assertEquals(response.status, status, body);
}

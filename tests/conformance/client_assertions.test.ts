/** Client assertions that the OpenID conformance suite sends to PAR and the token endpoint, one defect each. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { postForm, pushForm, requestToken } from "testing/flows.ts";
import { clientAssertion, type JsonObject } from "testing/jwts.ts";
import { awaitingConsent } from "testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { importPrivate, segment } from "testing/raw_jws.ts";
import { stepsOf } from "support/steps.ts";

/** Changes a valid assertion; undefined omits the parameter. */
type Defect = (env: Environment) => Promise<string | undefined>;

const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const TYPES: Readonly<Record<string, string | undefined>> = {
  "client_assertion_type missing [CA-N2]": undefined,
  "client_assertion_type wrong [CA-N2]": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
};

const REJECTED: Readonly<Record<string, Defect>> = {
  "no sub [EnsureClientAssertionWithNoSubFails, CA-N9]": claims(() => ({ sub: undefined })),
  "wrong sub [CA-N10]": claims((env) => ({ sub: env.otherTpp.clientId })),
  "no iss [CA-N10]": claims(() => ({ iss: undefined })),
  "wrong iss [CA-N10]": claims((env) => ({ iss: env.otherTpp.clientId })),
  "no aud [CA-N11]": claims(() => ({ aud: undefined })),
  "unrelated aud [EnsureClientAssertionWithWrongAudFails, CA-N11]": claims(() => ({
    aud: "https://other.example",
  })),
  "aud the PAR endpoint [PAREndpointAsAudienceFails, CA-N11]": claims(() => ({
    aud: `${BASE_URL}/BANKA/par.oauth2/v1`,
  })),
  "aud the token endpoint [PARTokenEndpointAsAudienceFails, CA-N11]": claims(() => ({
    aud: `${BASE_URL}/BANKA/token.oauth2/v1`,
  })),
  "aud an array of the issuer [PAREndpointAsArrayAudienceFails, CA-N11]": claims(() => ({
    aud: [`${AUTH_URL}/BANKA`],
  })),
  "aud an array of the issuer and an evil one [CA-N11, J30]": claims(() => ({
    aud: ["https://evil.example", `${AUTH_URL}/BANKA`],
  })),
  "exp five minutes ago [EnsureClientAssertionWithExpIs5MinutesInPastFails, CA-N12]": claims((env) => ({
    exp: env.now / 1000 - 300,
  })),
  "iat and nbf 62 s ahead [PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails, CA-N15]":
    claims((env) => ahead(env, 62)),
  "signed with RS256 [EnsureSignedClientAssertionWithRS256Fails, CA-N5]": rs256,
  "alg none [CA-N6]": async (env) => {
    const [, payload] = (await clientAssertion(env, env.tpp, "BANKA")).split(".");
    return `${segment({ alg: "none" })}.${payload}.`;
  },
  "signature altered": async (env) => {
    const good = await clientAssertion(env, env.tpp, "BANKA");
    return `${good.slice(0, -8)}${good.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA"}`;
  },
  "no assertion [EnsureClientAssertionInTokenEndpoint, CA-N1]": () => Promise.resolve(undefined),
};

const ACCEPTED: Readonly<Record<string, Defect>> = {
  "iat and nbf 8 s ahead [PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted, CA-N14]":
    claims((env) => ahead(env, 8)),
  "a good one": claims(() => ({})),
};

Deno.test("PAR and the token endpoint reject each invalid client assertion, and take a good one after them [EnsureInvalidClientAssertionsFail]", async (t) => {
  await using env = await openEnvironment();
  const consentId = await awaitingConsent(env);
  const endpoints = { PAR: push(consentId), token: token };
  for (const [endpoint, send] of Object.entries(endpoints)) {
    await stepsOf(t, Object.entries(REJECTED), ([name]) => `${endpoint}: ${name}`, async ([, defect]) => {
      const form = { client_assertion: await defect(env) };
      const before = await env.snapshot();
      assertEquals(await errorOf(send(env, form)), [401, "invalid_client"]);
      assertEquals(await env.snapshot(), before);
    });
    await stepsOf(t, Object.entries(TYPES), ([name]) => `${endpoint}: ${name}`, async ([, type]) => {
      const answer = send(env, { client_assertion_type: type });
      assertEquals(await errorOf(answer), [400, "invalid_request"]);
    });
    await stepsOf(t, Object.entries(ACCEPTED), ([name]) => `${endpoint}: ${name}`, async ([, make]) => {
      const form = { client_assertion: await make(env), client_assertion_type: JWT_BEARER };
      const answer = await send(env, form);
      assertEquals(answer.status, endpoint === "PAR" ? 201 : 200);
      await answer.body?.cancel();
    });
  }
});

type Send = (env: Environment, form: Record<string, string | undefined>) => Promise<Response>;

function push(consentId: string): Send {
  return async (env, form) => {
    const good = await pushForm(env, env.tpp, "BANKA", consentId);
    return await postForm(env, "/BANKA/par.oauth2/v1", { ...good, ...form }, env.tpp);
  };
}

function token(env: Environment, form: Record<string, string | undefined>): Promise<Response> {
  return requestToken(env, env.tpp, "BANKA", { form });
}

async function errorOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  return [response.status, (await rejectionOf(response)).error];
}

function claims(changes: (env: Environment) => JsonObject): Defect {
  return (env) => clientAssertion(env, env.tpp, "BANKA", { claims: changes(env) });
}

function ahead(env: Environment, seconds: number): JsonObject {
  const iat = env.now / 1000 + seconds;
  return { iat, nbf: iat, exp: iat + 60 };
}

async function rs256(env: Environment): Promise<string> {
  const { key, kid } = env.tpp.signing;
  const [, payload] = (await clientAssertion(env, env.tpp, "BANKA")).split(".");
  const input = `${segment({ alg: "RS256", kid })}.${payload}`;
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const signer = await importPrivate(key.privateJwk, algorithm);
  const signature = await crypto.subtle.sign(algorithm.name, signer, new TextEncoder().encode(input));
  return `${input}.${segment(new Uint8Array(signature))}`;
}

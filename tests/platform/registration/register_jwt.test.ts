/** `POST /register/v1`: registration JWTs that must not be believed (contract DC5-DC7, DC-N8, DC-N9, DC-N27). */
import { clientAssertion, dpopProof, type JsonObject, withChanges } from "../../../scripts/testing/jwts.ts";
import { smallTestKey, testKey } from "../../../scripts/testing/keys.ts";
import { hmacJws, rs256Jws } from "../../support/odd_jws.ts";
import { type Participant, registrationClaims } from "../../../scripts/testing/participants.ts";
import { claiming, headed, rejectAll } from "../../../scripts/testing/registration.ts";
import {
  AUTH_URL,
  BASE_URL,
  type Environment,
  REGISTRATION_AUDIENCE,
  START,
} from "../../../scripts/testing/environment.ts";
import { rawJws, segment } from "../../../scripts/testing/raw_jws.ts";

const NOW = START / 1000;

Deno.test("POST register rejects a JWT that no current signing key of the participant signed [DC-N8] [DC5] [DC17]", async (t) => {
  const header = (newcomer: Participant): JsonObject => ({
    alg: "PS256",
    typ: "JWT",
    kid: newcomer.signing.kid,
  });
  await rejectAll(t, "invalid_client_metadata", {
    "the signature of another JWT": async (newcomer, env) => {
      const key = await newcomer.signing.key.privateKey("sign");
      const [good, other] = await Promise.all([
        rawJws(key, header(newcomer), registrationClaims(env, newcomer)),
        rawJws(key, header(newcomer), registrationClaims(env, newcomer)),
      ]);
      return { body: good.replace(/[^.]+$/, "") + other.split(".")[2] };
    },
    "an outsider's signature under the participant's kid": async (newcomer) => ({
      signer: { key: await testKey(15), kid: newcomer.signing.kid },
    }),
    "kid unknown": headed({ kid: "unknown" }),
    "kid missing": headed({ kid: undefined }),
    "kid empty": headed({ kid: "" }),
    "kid no string": headed({ kid: 7 }),
    "kid of another participant's key": (_, env) => ({ signer: env.otherTpp.signing }),
    "the participant's own tls key": (newcomer) => ({ signer: newcomer.transport }),
    "a key of 1024 bits under the participant's kid": async (newcomer, env) => ({
      body: await rawJws(
        await (await smallTestKey()).privateKey("sign"),
        header(newcomer),
        registrationClaims(env, newcomer),
      ),
    }),
    "alg none": (newcomer, env) => ({
      body: `${segment({ ...header(newcomer), alg: "none" })}.${segment(registrationClaims(env, newcomer))}.`,
    }),
    "alg RS256 by the right key": async (newcomer, env) => ({
      body: await rs256Jws(
        newcomer.signing.key,
        { ...header(newcomer), alg: "RS256" },
        registrationClaims(env, newcomer),
      ),
    }),
    "alg HS256 keyed with the public key": async (newcomer, env) => ({
      body: await hmacJws(
        newcomer.signing.key,
        { ...header(newcomer), alg: "HS256" },
        registrationClaims(env, newcomer),
      ),
    }),
    "jwk in the header": async () => ({ header: { jwk: (await testKey(15)).publicJwk } }),
    "jku in the header": headed({ jku: "https://evil.example/jwks" }),
    "x5c in the header": (newcomer) => ({ header: { x5c: [newcomer.signing.certificate] } }),
    "typ missing": headed({ typ: undefined }),
    "typ at+jwt": headed({ typ: "at+jwt" }),
    "no JWT": () => ({ body: "register me" }),
    "an empty body": () => ({ body: "" }),
    "JSON": () => ({ body: '{"redirect_uris":["https://new.example/callback"]}' }),
    "two line breaks behind the JWT [DC1]": async (newcomer, env) => ({
      body: `${await signed(env, newcomer)}\r\n\r\n`,
    }),
    "a space before the JWT [DC1]": async (newcomer, env) => ({
      body: ` ${await signed(env, newcomer)}`,
    }),
    "two JWTs [DC1]": async (newcomer, env) => {
      const jwt = await signed(env, newcomer);
      return { body: `${jwt}\n${jwt}` };
    },
    "padding in the JWT [DC1]": async (newcomer, env) => ({ body: `${await signed(env, newcomer)}==` }),
    "claims with a duplicate member": async (newcomer, env) => {
      const text = JSON.stringify(registrationClaims(env, newcomer));
      const twice = `{"aud":"https://evil.example",${text.slice(1)}`;
      const key = await newcomer.signing.key.privateKey("sign");
      return { body: await rawJws(key, header(newcomer), twice) };
    },
  });

  async function signed(env: Environment, newcomer: Participant): Promise<string> {
    const key = await newcomer.signing.key.privateKey("sign");
    return await rawJws(key, header(newcomer), registrationClaims(env, newcomer));
  }
});

Deno.test("POST register rejects a JWT that lacks a required claim [DC6]", async (t) => {
  const names = [
    "iss",
    "iat",
    "exp",
    "aud",
    "jti",
    "token_endpoint_auth_method",
    "grant_types",
    "scope",
    "application_type",
  ];
  await rejectAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(names.map((name) => [name, claiming({ [name]: undefined })])),
  );
});

Deno.test("POST register rejects times, audience, issuer and jti that are not right [DC-N9] [DC6] [DC7]", async (t) => {
  await rejectAll(t, "invalid_client_metadata", {
    "exp 30 s ago": claiming({ iat: NOW - 60, exp: NOW - 30 }),
    "exp in milliseconds": claiming({ exp: START + 300_000 }),
    "exp as a string": claiming({ exp: String(NOW + 300) }),
    "exp beyond all numbers": async (newcomer, env) => {
      const text = JSON.stringify(registrationClaims(env, newcomer)).replace(/"exp":\d+/, '"exp":1e999');
      const key = await newcomer.signing.key.privateKey("sign");
      return { body: await rawJws(key, { alg: "PS256", typ: "JWT", kid: newcomer.signing.kid }, text) };
    },
    "a life of more than an hour": claiming({ exp: NOW + 3601 }),
    "iat 31 s ahead": claiming({ iat: NOW + 31, exp: NOW + 300 }),
    "iat more than an hour ago": claiming({ iat: NOW - 3601, exp: NOW - 1 }),
    "nbf 31 s ahead": claiming({ nbf: NOW + 31 }),
    "aud is the API": claiming({ aud: BASE_URL }),
    "aud is an issuer": claiming({ aud: `${AUTH_URL}/BANKA` }),
    "aud is the audience with a slash": claiming({ aud: `${REGISTRATION_AUDIENCE}/` }),
    "aud is an array of the audience": claiming({ aud: [REGISTRATION_AUDIENCE] }),
    "aud is an array with more": claiming({ aud: [REGISTRATION_AUDIENCE, BASE_URL] }),
    "aud empty": claiming({ aud: "" }),
    "iss is another participant": claiming({ iss: "Other Shop Ltd" }),
    "iss is the client id": (newcomer) => ({ claims: { iss: newcomer.clientId } }),
    "iss empty": claiming({ iss: "" }),
    "iss of 10,000 characters": claiming({ iss: "New Shop Ltd".padEnd(10_000, " ") }),
    "jti empty": claiming({ jti: "" }),
    "jti a number": claiming({ jti: 7 }),
    "jti of 257 characters": claiming({ jti: "j".repeat(257) }),
  });
});

Deno.test("POST register rejects JWTs that were made for something else [DC-N27]", async (t) => {
  const proofTarget = { method: "POST", url: `${BASE_URL}/register/v1` };
  await rejectAll(t, "invalid_client_metadata", {
    "a client assertion": async (newcomer, env) => ({
      body: await clientAssertion(env, newcomer, "BANKA"),
    }),
    "a client assertion with typ JWT for the registration": async (newcomer, env) => ({
      body: await clientAssertion(env, newcomer, "BANKA", {
        header: { typ: "JWT" },
        claims: { aud: REGISTRATION_AUDIENCE },
      }),
    }),
    "a client assertion with everything of a registration": (newcomer) => ({
      claims: { sub: newcomer.clientId },
    }),
    "a DPoP proof": async (newcomer, env) => ({
      body: await dpopProof(env, newcomer.signing.key, proofTarget),
    }),
    "a registration JWT as a DPoP proof": async (newcomer, env) => ({
      body: await dpopProof(env, newcomer.signing.key, proofTarget, {
        header: { kid: newcomer.signing.kid },
        claims: withChanges(registrationClaims(env, newcomer)),
      }),
    }),
    "the software statement itself": (newcomer) => ({ body: newcomer.statement }),
  });
});

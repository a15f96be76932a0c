/**
 * `POST /register/v1`: registration JWTs that must not be believed (contract DC5-DC7, DC-N9, DC-N27).
 * `tests/attacks/jwt_*.test.ts` has those with a wrong signature, header, time or id.
 */
import { clientAssertion, dpopProof, withChanges } from "testing/jwts.ts";
import { registrationClaims } from "testing/participants.ts";
import { claiming, registrationJwt, rejectAll } from "testing/registration.ts";
import { AUTH_URL, BASE_URL, REGISTRATION_AUDIENCE } from "testing/environment.ts";

Deno.test("POST register takes one JWT as its body and nothing else [DC1] [DC-N8]", async (t) => {
  await rejectAll(t, "invalid_client_metadata", {
    "an empty body": () => ({ body: "" }),
    "JSON": () => ({ body: '{"redirect_uris":["https://new.example/callback"]}' }),
    "two line breaks behind the JWT": async (newcomer, env) => ({
      body: `${await registrationJwt(env, newcomer)}\r\n\r\n`,
    }),
    "two JWTs": async (newcomer, env) => {
      const jwt = await registrationJwt(env, newcomer);
      return { body: `${jwt}\n${jwt}` };
    },
  });
});

Deno.test("POST register rejects a JWT that lacks a required claim [DC6]", async (t) => {
  const names = ["iss", "token_endpoint_auth_method", "grant_types", "scope", "application_type"];
  await rejectAll(
    t,
    "invalid_client_metadata",
    Object.fromEntries(names.map((name) => [name, claiming({ [name]: undefined })])),
  );
});

Deno.test("POST register rejects another audience or issuer [DC-N9] [DC6] [DC7]", async (t) => {
  await rejectAll(t, "invalid_client_metadata", {
    "aud is the API": claiming({ aud: BASE_URL }),
    "aud is an issuer": claiming({ aud: `${AUTH_URL}/BANKA` }),
    "aud empty": claiming({ aud: "" }),
    "iss is another participant": claiming({ iss: "Other Shop Ltd" }),
    "iss is the client id": (newcomer) => ({ claims: { iss: newcomer.clientId } }),
    "iss empty": claiming({ iss: "" }),
    "iss of 10,000 characters": claiming({ iss: "New Shop Ltd".padEnd(10_000, " ") }),
  });
});

Deno.test("POST register rejects another kind of JWT with the claims of a registration [DC-N27]", async (t) => {
  const proofTarget = { method: "POST", url: `${BASE_URL}/register/v1` };
  await rejectAll(t, "invalid_client_metadata", {
    "a client assertion with typ JWT for the registration": async (newcomer, env) => ({
      body: await clientAssertion(env, newcomer, "BANKA", {
        header: { typ: "JWT" },
        claims: { aud: REGISTRATION_AUDIENCE },
      }),
    }),
    "a client assertion with everything of a registration": (newcomer) => ({
      claims: { sub: newcomer.clientId },
    }),
    "a registration JWT as a DPoP proof": async (newcomer, env) => ({
      body: await dpopProof(env, newcomer.signing.key, proofTarget, {
        header: { kid: newcomer.signing.kid },
        claims: withChanges(registrationClaims(env, newcomer)),
      }),
    }),
  });
});

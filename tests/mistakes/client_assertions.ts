/** Mistakes in client authentication at the token endpoint. */
import { clientAssertion, seconds } from "testing/jwts.ts";
import { type Area, membersOf, mistake } from "./mistake.ts";
import { asserting, tokenRequest, type Workbench } from "./workbench.ts";

const issuer = ({ addresses }: Workbench): string => `'${addresses.authUrl}/BANKA'`;
const clientId = ({ env }: Workbench): string => `'${env.tpp.clientId}'`;
const signingKid = ({ env }: Workbench): string => `'${env.tpp.signing.kid}'`;

const claim = membersOf("client_assertion", (bench, claims) => asserting(bench, { claims }));
const member = membersOf("client_assertion", (bench, header) => asserting(bench, { header }), "header ");

export const CLIENT_ASSERTIONS: Area = {
  name: "client assertions",
  role: "TPP",
  mistakes: [
    claim(
      "aud",
      ({ addresses }) => `${addresses.baseUrl}/BANKA/token.oauth2/v1`,
      issuer,
      "is the URL of the token endpoint",
    ),
    claim("aud", ({ addresses }) => [`${addresses.authUrl}/BANKA`], issuer, "is an array"),
    claim("aud", ({ addresses }) => `${addresses.authUrl}/BANKB`, issuer, "is another bank's issuer"),
    claim("aud", ({ addresses }) => addresses.authUrl, issuer, "is the issuer of handover JWTs"),
    claim("iss", () => "Example Shop Ltd", clientId, "is the participant's name"),
    claim("sub", () => undefined, clientId, "is missing"),
    claim("jti", () => undefined, "a string of 1 to 256 characters", "is missing"),
    claim("exp", () => undefined, "a number of Unix seconds", "is missing"),
    claim("exp", ({ env }) => String(seconds(env) + 60), "a number of Unix seconds", "is a string"),
    claim("exp", ({ env }) => seconds(env) - 100, "later than now", "has passed"),
    claim("exp", ({ env }) => seconds(env) + 3600, "at most 330 s from now", "is an hour ahead"),
    claim("exp", ({ env }) => (seconds(env) + 60) * 1000, "at most 330 s from now", "is in milliseconds"),
    claim("iat", ({ env }) => seconds(env) + 120, "at most 30 s ahead", "is two minutes ahead"),
    claim("nbf", ({ env }) => seconds(env) + 120, "at most 30 s ahead", "is two minutes ahead"),
    member("kid", ({ env }) => env.tpp.transport.kid, signingKid, "is the transport key's"),
    member("kid", () => undefined, signingKid, "is missing"),
    member("kid", () => "my-key", signingKid, "is a name of one's own"),
    member("typ", () => "JOSE", "client-authentication+jwt", "is that of a payload signature"),
    member("jku", () => "https://tpp.example/jwks", "absent", "names a key set"),
    mistake([
      "signed with the transport key under the signing key's kid",
      "client_assertion signature",
      "the key that kid names",
    ], async (bench) => {
      const { tpp } = bench.env;
      const signing = { ...tpp.signing, key: tpp.transport.key };
      const form = { client_assertion: await clientAssertion(bench.env, { ...tpp, signing }, "BANKA") };
      return await tokenRequest(bench, { form });
    }),
    mistake(
      ["one assertion for two requests", "client_assertion jti", "new for each assertion"],
      async (bench) => {
        const form = { client_assertion: await clientAssertion(bench.env, bench.env.tpp, "BANKA") };
        await (await tokenRequest(bench, { form })).body?.cancel();
        return await tokenRequest(bench, { form });
      },
    ),
    mistake(
      ["the assertion is not a JWT", "client_assertion", "a compact JWS"],
      (bench) => tokenRequest(bench, { form: { client_assertion: "my-secret" } }),
    ),
    mistake(
      ["no client_assertion", "client_assertion", "private_key_jwt"],
      (bench) => tokenRequest(bench, { form: { client_assertion: undefined } }),
    ),
    mistake([
      "client_assertion_type is missing",
      "client_assertion_type",
      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    ], (bench) => tokenRequest(bench, { form: { client_assertion_type: undefined } })),
    mistake(
      ["a client secret beside the assertion", "client_secret", "absent"],
      (bench) => tokenRequest(bench, { form: { client_secret: "my-secret" } }),
    ),
    mistake(
      ["client_id is the organisation's id", "client_id", clientId],
      (bench) => tokenRequest(bench, { form: { client_id: bench.env.tpp.orgId } }),
    ),
    mistake(
      ["no client_id", "client_id", clientId],
      (bench) => tokenRequest(bench, { form: { client_id: undefined } }),
    ),
    mistake([
      "the certificate of another of one's clients",
      "client_id",
      ({ env }) => `'${env.bankA.clientId}'`,
    ], (bench) => tokenRequest(bench, { as: bench.env.bankA })),
  ],
};

/** Mistakes in client authentication at the token endpoint. */
import { clientAssertion, seconds } from "../../testing/jwts.ts";
import { type Area, membersOf } from "./mistake.ts";
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
    {
      name: "signed with the transport key under the signing key's kid",
      part: "client_assertion signature",
      expected: "the key that kid names",
      make: async (bench) => {
        const { tpp } = bench.env;
        const signing = { ...tpp.signing, key: tpp.transport.key };
        const form = { client_assertion: await clientAssertion(bench.env, { ...tpp, signing }, "BANKA") };
        return await tokenRequest(bench, { form });
      },
    },
    {
      name: "one assertion for two requests",
      part: "client_assertion jti",
      expected: "new for each assertion",
      make: async (bench) => {
        const form = { client_assertion: await clientAssertion(bench.env, bench.env.tpp, "BANKA") };
        await (await tokenRequest(bench, { form })).body?.cancel();
        return await tokenRequest(bench, { form });
      },
    },
    {
      name: "the assertion is not a JWT",
      part: "client_assertion",
      expected: "a compact JWS",
      make: (bench) => tokenRequest(bench, { form: { client_assertion: "my-secret" } }),
    },
    {
      name: "no client_assertion",
      part: "client_assertion",
      expected: "private_key_jwt",
      make: (bench) => tokenRequest(bench, { form: { client_assertion: undefined } }),
    },
    {
      name: "client_assertion_type is missing",
      part: "client_assertion_type",
      expected: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      make: (bench) => tokenRequest(bench, { form: { client_assertion_type: undefined } }),
    },
    {
      name: "a client secret beside the assertion",
      part: "client_secret",
      expected: "absent",
      make: (bench) => tokenRequest(bench, { form: { client_secret: "my-secret" } }),
    },
    {
      name: "client_id is the organisation's id",
      part: "client_id",
      expected: clientId,
      make: (bench) => tokenRequest(bench, { form: { client_id: bench.env.tpp.orgId } }),
    },
    {
      name: "no client_id",
      part: "client_id",
      expected: clientId,
      make: (bench) => tokenRequest(bench, { form: { client_id: undefined } }),
    },
    {
      name: "the certificate of another of one's clients",
      part: "client_id",
      expected: ({ env }) => `'${env.bankA.clientId}'`,
      make: (bench) => tokenRequest(bench, { as: bench.env.bankA }),
    },
  ],
};

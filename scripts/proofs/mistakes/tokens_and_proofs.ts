/** Mistakes in DPoP proofs and access tokens. */
import { call, clientToken, requestToken } from "../../testing/flows.ts";
import { type Changes, dpopProof, seconds, sha256, thumbprint } from "../../testing/jwts.ts";
import { dpopKey } from "../../testing/flows.ts";
import { smallTestKey, testKey } from "../../testing/keys.ts";
import { type Area, membersOf } from "./mistake.ts";
import {
  CONSENTS,
  PAYMENTS,
  reading,
  TOKEN_PATH,
  tokenRequest,
  tokenTarget,
  type Workbench,
} from "./workbench.ts";

const ENDPOINT = (bench: Workbench): string => `'${tokenTarget(bench).url}'`;

/** A token request with a changed proof. */
async function proving(bench: Workbench, changes: Changes): Promise<Response> {
  const target = tokenTarget(bench);
  return await tokenRequest(bench, { proof: await dpopProof(bench.env, await dpopKey(), target, changes) });
}

const claim = membersOf("DPoP proof", (bench, claims) => proving(bench, { claims }));

export const PROOFS: Area = {
  name: "DPoP proofs",
  role: "TPP",
  mistakes: [
    claim(
      "htu",
      ({ addresses }) => `${addresses.baseUrl}/BANKA/par.oauth2/v1`,
      ENDPOINT,
      "is another endpoint's URL",
    ),
    claim("htu", () => TOKEN_PATH, ENDPOINT, "is a path"),
    claim("htu", () => undefined, ENDPOINT, "is missing"),
    claim("htm", () => "GET", "'POST'", "is another method"),
    claim("htm", () => "post", "'POST'", "is in lower case"),
    claim("iat", ({ env }) => seconds(env) - 612, "at most 60 s old", "is ten minutes ago"),
    claim("iat", ({ env }) => seconds(env) * 1000, "at most 30 s ahead", "is in milliseconds"),
    claim("iat", () => undefined, "a number of Unix seconds", "is missing"),
    claim("jti", () => undefined, "a string of 1 to 256 characters", "is missing"),
    {
      name: "typ is JWT",
      part: "DPoP proof header typ",
      expected: "dpop+jwt",
      make: (bench) => proving(bench, { header: { typ: "JWT" } }),
    },
    {
      name: "no jwk in the header",
      part: "DPoP proof header jwk",
      expected: "the public key of the signer",
      make: (bench) => proving(bench, { header: { jwk: undefined } }),
    },
    {
      name: "the private key in the header",
      part: "DPoP proof jwk",
      expected: "without private members",
      make: async (bench) => proving(bench, { header: { jwk: (await dpopKey()).privateJwk } }),
    },
    {
      name: "a key of 1024 bits",
      part: "DPoP proof jwk",
      expected: "2048 to 4096 bits",
      make: async (bench) => {
        const target = tokenTarget(bench);
        const jwk = (await smallTestKey()).publicJwk;
        const proof = await dpopProof(bench.env, await dpopKey(), target, { header: { jwk } });
        return await tokenRequest(bench, { proof });
      },
    },
    {
      name: "signed by another key than the header's",
      part: "DPoP proof signature",
      expected: "the private key of the jwk in the header",
      make: async (bench) => proving(bench, { header: { jwk: (await testKey(10)).publicJwk } }),
    },
    {
      name: "no proof",
      part: "the DPoP header",
      expected: "a proof JWT",
      make: (bench) => tokenRequest(bench, { proof: null }),
    },
    {
      name: "one proof for two requests",
      part: "DPoP proof jti",
      expected: "new for each request",
      make: async (bench) => {
        const target = tokenTarget(bench);
        const proof = await dpopProof(bench.env, await dpopKey(), target);
        await (await requestToken(bench.env, bench.env.tpp, "BANKA", { proof })).body?.cancel();
        return await requestToken(bench.env, bench.env.tpp, "BANKA", { proof });
      },
    },
  ],
};

export const TOKENS: Area = {
  name: "access tokens and proofs at resources",
  role: "TPP",
  mistakes: [
    {
      name: "no Authorization header",
      part: "Authorization header",
      expected: "'DPoP', a space and the access token",
      make: (bench) => reading(bench, { headers: { authorization: undefined } }),
    },
    {
      name: "the Bearer scheme",
      part: "Authorization header",
      expected: "'DPoP', a space and the access token",
      make: async (bench) =>
        reading(bench, { headers: { authorization: `Bearer ${(await bench.token()).token}` } }),
    },
    {
      name: "an expired or mistyped token",
      part: "access token",
      expected: "issued",
      make: async (bench) => {
        const bound = { ...await bench.token(), token: "x".repeat(43) };
        return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
      },
    },
    {
      name: "a token of another bank",
      part: "access token",
      expected: "'BANKA'",
      make: async (bench) => {
        const bound = await clientToken(bench.env, bench.env.tpp, "BANKB");
        return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
      },
    },
    {
      name: "a proof by another key than the token's",
      part: "DPoP proof header jwk",
      expected: async () => `'${await thumbprint(await dpopKey())}'`,
      make: async (bench) => {
        const bound = { ...await bench.token(), key: await testKey(10) };
        return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
      },
    },
    {
      name: "a proof without ath",
      part: "DPoP proof ath",
      expected: async (bench) => `'${await sha256((await bench.token()).token)}'`,
      make: (bench) => reading(bench, { proofChanges: { claims: { ath: undefined } } }),
    },
    {
      name: "ath in hexadecimal",
      part: "DPoP proof ath",
      expected: async (bench) => `'${await sha256((await bench.token()).token)}'`,
      make: (bench) => reading(bench, { proofChanges: { claims: { ath: "0a".repeat(32) } } }),
    },
    {
      name: "no proof at a resource",
      part: "the DPoP header",
      expected: "a proof JWT",
      make: (bench) => reading(bench, { proof: null }),
    },
    {
      name: "the proof of the token request at a resource",
      part: "DPoP proof htm",
      expected: "'GET'",
      make: (bench) => reading(bench, { proofChanges: { claims: { htm: "POST" } } }),
    },
    {
      name: "an old proof at a resource",
      part: "DPoP proof iat",
      expected: "at most 60 s old",
      make: (bench) => reading(bench, { proofChanges: { claims: { iat: seconds(bench.env) - 100 } } }),
    },
    {
      name: "the token in the query",
      part: "access_token",
      expected: "Authorization header",
      make: async (bench) => {
        const { token } = await bench.token();
        const path = `${CONSENTS}/${await bench.consent()}?access_token=${token}`;
        return await call(bench.env, bench.env.tpp, await bench.token(), path);
      },
    },
    {
      name: "a client credentials token for a payment",
      part: "Authorization",
      expected: "authorization_code",
      make: async (bench) => call(bench.env, bench.env.tpp, await bench.token(), PAYMENTS, { body: "{}" }),
    },
    {
      name: "a token of the TPP at the back channel",
      part: "Authorization",
      expected: "scope bank",
      make: async (bench) => {
        const path = `/BANKA/back-channel-auth/v1/${await bench.consent()}`;
        return await call(bench.env, bench.env.tpp, await bench.token(), path);
      },
    },
  ],
};

/** Mistakes in DPoP proofs and access tokens. */
import { call, clientToken, dpopKey, requestToken } from "testing/flows.ts";
import { type Changes, dpopProof, seconds, thumbprint } from "testing/jwts.ts";
import { smallTestKey, testKey } from "testing/keys.ts";
import { type Area, membersOf, mistake } from "./mistake.ts";
import {
  CONSENTS,
  PAYMENTS,
  reading,
  TOKEN_PATH,
  tokenRequest,
  tokenTarget,
  type Workbench,
} from "./workbench.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

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
    mistake(
      ["typ is JWT", "DPoP proof header typ", "dpop+jwt"],
      (bench) => proving(bench, { header: { typ: "JWT" } }),
    ),
    mistake(
      ["no jwk in the header", "DPoP proof header jwk", "the public key of the signer"],
      (bench) => proving(bench, { header: { jwk: undefined } }),
    ),
    mistake(
      ["the private key in the header", "DPoP proof jwk", "without private members"],
      async (bench) => proving(bench, { header: { jwk: (await dpopKey()).privateJwk } }),
    ),
    mistake(["a key of 1024 bits", "DPoP proof jwk", "2048 to 4096 bits"], async (bench) => {
      const target = tokenTarget(bench);
      const jwk = (await smallTestKey()).publicJwk;
      const proof = await dpopProof(bench.env, await dpopKey(), target, { header: { jwk } });
      return await tokenRequest(bench, { proof });
    }),
    mistake([
      "signed by another key than the header's",
      "DPoP proof signature",
      "the private key of the jwk in the header",
    ], async (bench) => proving(bench, { header: { jwk: (await testKey(10)).publicJwk } })),
    mistake(["no proof", "the DPoP header", "a proof JWT"], (bench) => tokenRequest(bench, { proof: null })),
    mistake(["one proof for two requests", "DPoP proof jti", "new for each request"], async (bench) => {
      const target = tokenTarget(bench);
      const proof = await dpopProof(bench.env, await dpopKey(), target);
      await (await requestToken(bench.env, bench.env.tpp, "BANKA", { proof })).body?.cancel();
      return await requestToken(bench.env, bench.env.tpp, "BANKA", { proof });
    }),
  ],
};

export const TOKENS: Area = {
  name: "access tokens and proofs at resources",
  role: "TPP",
  mistakes: [
    mistake(
      ["no Authorization header", "Authorization header", "'DPoP', a space and the access token"],
      (bench) => reading(bench, { headers: { authorization: undefined } }),
    ),
    mistake(
      ["the Bearer scheme", "Authorization header", "'DPoP', a space and the access token"],
      async (bench) =>
        reading(bench, { headers: { authorization: `Bearer ${(await bench.token()).token}` } }),
    ),
    mistake(["an expired or mistyped token", "access token", "issued"], async (bench) => {
      const bound = { ...await bench.token(), token: "x".repeat(43) };
      return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
    }),
    mistake(["a token of another bank", "access token", "'BANKA'"], async (bench) => {
      const bound = await clientToken(bench.env, bench.env.tpp, "BANKB");
      return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
    }),
    mistake([
      "a proof by another key than the token's",
      "DPoP proof header jwk",
      async () => `'${await thumbprint(await dpopKey())}'`,
    ], async (bench) => {
      const bound = { ...await bench.token(), key: await testKey(10) };
      return await call(bench.env, bench.env.tpp, bound, `${CONSENTS}/${await bench.consent()}`);
    }),
    mistake([
      "a proof without ath",
      "DPoP proof ath",
      async (bench) => `'${await sha256((await bench.token()).token)}'`,
    ], (bench) => reading(bench, { proofChanges: { claims: { ath: undefined } } })),
    mistake([
      "ath in hexadecimal",
      "DPoP proof ath",
      async (bench) => `'${await sha256((await bench.token()).token)}'`,
    ], (bench) => reading(bench, { proofChanges: { claims: { ath: "0a".repeat(32) } } })),
    mistake(
      ["no proof at a resource", "the DPoP header", "a proof JWT"],
      (bench) => reading(bench, { proof: null }),
    ),
    mistake(
      ["the proof of the token request at a resource", "DPoP proof htm", "'GET'"],
      (bench) => reading(bench, { proofChanges: { claims: { htm: "POST" } } }),
    ),
    mistake(
      ["an old proof at a resource", "DPoP proof iat", "at most 60 s old"],
      (bench) => reading(bench, { proofChanges: { claims: { iat: seconds(bench.env) - 100 } } }),
    ),
    mistake(["the token in the query", "access_token", "Authorization header"], async (bench) => {
      const { token } = await bench.token();
      const path = `${CONSENTS}/${await bench.consent()}?access_token=${token}`;
      return await call(bench.env, bench.env.tpp, await bench.token(), path);
    }),
    mistake(
      ["a client credentials token for a payment", "Authorization", "authorization_code"],
      async (bench) => call(bench.env, bench.env.tpp, await bench.token(), PAYMENTS, { body: "{}" }),
    ),
    mistake(["a token of the TPP at the back channel", "Authorization", "scope bank"], async (bench) => {
      const path = `/BANKA/back-channel-auth/v1/${await bench.consent()}`;
      return await call(bench.env, bench.env.tpp, await bench.token(), path);
    }),
  ],
};

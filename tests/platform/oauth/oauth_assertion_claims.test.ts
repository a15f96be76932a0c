/** Client assertions at the token endpoint (both grants) and PAR: issuer, subject, audience, times and id. */
import { asAssertion, assertionClaims, claiming, type WithAssertion } from "../../support/assertions.ts";
import { clientAssertion, type JsonObject, seconds } from "../../../scripts/testing/jwts.ts";
import {
  acceptedEverywhere,
  type Case,
  rejectedEverywhere,
} from "../../../scripts/testing/oauth_requests.ts";
import {
  AUTH_URL,
  BASE_URL,
  type Environment,
  openEnvironment,
} from "../../../scripts/testing/environment.ts";
import { rawJws } from "../../../scripts/testing/raw_jws.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;
const ISSUER = `${AUTH_URL}/BANKA`;

Deno.test("POST token, par reject an assertion of one client for another [CA-N8, PA-N18]", async (t) => {
  await using env = await openEnvironment();
  const { tpp, otherTpp } = env;
  const made = async (changes: JsonObject, kid = tpp.signing.kid): Promise<WithAssertion> =>
    asAssertion(await clientAssertion(env, tpp, "BANKA", { claims: changes, header: { kid } }));
  const others = { iss: otherTpp.clientId, sub: otherTpp.clientId };
  const as = (made: WithAssertion): { form: { client_id: string; client_assertion: string } } => ({
    form: { client_id: otherTpp.clientId, ...made.form },
  });
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "claims and client_id of client 2": async () => as(await made(others)),
    "claims, kid and client_id of client 2": async () => as(await made(others, otherTpp.signing.kid)),
    "and the certificate of client 2": async () => ({ ...as(await made(others)), as: otherTpp }),
    "client_id of client 2 alone": async () => as(await made({})),
    "client_id of client 2 and its certificate": async () => ({ ...as(await made({})), as: otherTpp }),
    "claims of client 2 alone": () => made(others),
    "client_id in upper case": () => ({ form: { client_id: tpp.clientId.toUpperCase() } }),
    "client_id in lower case": () => ({ form: { client_id: tpp.clientId.toLowerCase() } }),
  });
});

Deno.test("POST token, par reject an assertion without sub [CA-N9]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(t, env, UNAUTHENTICATED, each(env, "sub", [undefined, null, ""]));
});

Deno.test("POST token, par want iss, sub and client_id to be one [CA-N10]", async (t) => {
  await using env = await openEnvironment();
  const { clientId } = env.tpp;
  const wrong = [undefined, null, "", 1, env.otherTpp.clientId, clientId.toLowerCase(), `${clientId} `, [
    clientId,
  ]];
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...each(env, "iss", wrong),
    ...each(env, "sub", wrong.slice(3)),
    "both of another client": () => claiming(env, { iss: env.otherTpp.clientId, sub: env.otherTpp.clientId }),
  });
});

Deno.test("POST token, par take the bank's issuer as aud, as a string, and nothing else [CA-N11] [FAPI-D2] [CA9]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(
    t,
    env,
    UNAUTHENTICATED,
    each(env, "aud", [
      "https://auth.other.example/BANKA",
      `${BASE_URL}/BANKA/token.oauth2/v1`,
      `${BASE_URL}/BANKA/par.oauth2/v1`,
      `${BASE_URL}/BANKA`,
      [ISSUER],
      [ISSUER, "https://auth.other.example"],
      `${ISSUER}/`,
      "https://AUTH.platform.example/BANKA",
      "https://auth.platform.example:443/BANKA",
      `${AUTH_URL}/banka`,
      `${AUTH_URL}/BANKB`,
      AUTH_URL,
      `${ISSUER} `,
      "BANKA",
      "",
      undefined,
      null,
      1,
      { aud: ISSUER },
    ]),
  );
});

Deno.test("POST token, par reject an assertion that expired five minutes ago [CA-N12]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "exp 5 minutes past": () => claiming(env, { exp: seconds(env) - 300 }),
    "all times 6 minutes past": () => {
      const then = seconds(env) - 360;
      return claiming(env, { iat: then, nbf: then, exp: then + 60 });
    },
  });
});

Deno.test("POST token, par reject an assertion without a sensible exp [CA-N13]", async (t) => {
  await using env = await openEnvironment();
  const now = seconds(env);
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...each(env, "exp", [
      undefined,
      null,
      String(now + 60),
      [now + 60],
      true,
      -1,
      0,
      now + 86_400,
      now * 1000,
    ]),
    "1e999": () => written(env, (claims) => claims.replace(/"exp":\d+/, '"exp":1e999')),
    "-1e999": () => written(env, (claims) => claims.replace(/"exp":\d+/, '"exp":-1e999')),
  });
});

Deno.test("POST token, par accept iat and nbf eight seconds ahead [CA-N14]", async (t) => {
  await using env = await openEnvironment();
  const ahead = seconds(env) + 8;
  await acceptedEverywhere(t, env, {
    "iat = nbf = now + 8": () => claiming(env, { iat: ahead, nbf: ahead, exp: ahead + 60 }),
  });
});

Deno.test("POST token, par reject iat or nbf 62 seconds ahead [CA-N15]", async (t) => {
  await using env = await openEnvironment();
  const ahead = seconds(env) + 62;
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "both": () => claiming(env, { iat: ahead, nbf: ahead, exp: ahead + 60 }),
    "iat alone": () => claiming(env, { iat: ahead, nbf: undefined, exp: ahead + 60 }),
    "nbf alone": () => claiming(env, { iat: undefined, nbf: ahead, exp: ahead + 60 }),
    "an hour": () => claiming(env, { iat: ahead + 3538, nbf: ahead + 3538, exp: ahead + 3598 }),
  });
});

Deno.test("POST token, par accept an assertion without iat and nbf [CA11]", async (t) => {
  await using env = await openEnvironment();
  await acceptedEverywhere(t, env, {
    "neither": () => claiming(env, { iat: undefined, nbf: undefined }),
    "fractions": () => claiming(env, { iat: seconds(env) + 0.5, exp: seconds(env) + 60.25 }),
  });
});

Deno.test("POST token, par reject iat and nbf that are no numbers [CA11]", async (t) => {
  await using env = await openEnvironment();
  const wrong = [null, String(seconds(env)), [seconds(env)], {}];
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    ...each(env, "iat", wrong),
    ...each(env, "nbf", wrong),
    "iat 1e999": () => written(env, (claims) => claims.replace(/"iat":\d+/, '"iat":1e999')),
    "iat -1e999": () => written(env, (claims) => claims.replace(/"iat":\d+/, '"iat":-1e999')),
    "nbf -1e999": () => written(env, (claims) => claims.replace(/"nbf":\d+/, '"nbf":-1e999')),
  });
});

Deno.test("POST token, par want a jti of a sensible length [CA-N16]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(
    t,
    env,
    UNAUTHENTICATED,
    each(env, "jti", [undefined, null, "", 7, ["a"], "j".repeat(257), "j".repeat(5000)]),
  );
});

Deno.test("POST token, par accept a jti of 1 to 256 characters of any kind [CA-N16]", async (t) => {
  await using env = await openEnvironment();
  await acceptedEverywhere(t, env, {
    "256 characters": () => claiming(env, { jti: crypto.randomUUID().padEnd(256, "j") }),
    "not ASCII": () => claiming(env, { jti: `€ "\\ \u0000 ${crypto.randomUUID()}` }),
    "__proto__": ({ name }) => claiming(env, { jti: `__proto__${name}` }),
  });
});

/** One case per value of a claim; `undefined` leaves it out. */
function each(env: Environment, claim: string, values: readonly unknown[]): Record<string, Case> {
  return Object.fromEntries(
    values.map((value): [string, Case] => [
      `${claim}: ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 60)}`,
      () => claiming(env, { [claim]: value }),
    ]),
  );
}

/** Claims as text, for what JSON.stringify would not write. */
async function written(env: Environment, change: (claims: string) => string): Promise<WithAssertion> {
  const { key, kid } = env.tpp.signing;
  const text = change(JSON.stringify(assertionClaims(env)));
  return asAssertion(await rawJws(await key.privateKey("sign"), { alg: "PS256", kid }, text));
}

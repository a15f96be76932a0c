/** Client assertions at the token endpoint (both grants) and PAR: issuer, subject, audience, times and id. */
import { asAssertion, assertionClaims, claiming, type WithAssertion } from "../../support/assertions.ts";
import { clientAssertion, type JsonObject, seconds } from "../../../scripts/testing/jwts.ts";
import { acceptedEverywhere, type Case, refusedEverywhere } from "../../../scripts/testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, openWorld, type World } from "../../../scripts/testing/environment.ts";
import { rawJws } from "../../../scripts/testing/raw_jws.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;
const ISSUER = `${AUTH_URL}/BANKA`;

Deno.test("POST token, par refuse an assertion of one client for another [CA-N8, PA-N18]", async (t) => {
  await using world = await openWorld();
  const { tpp, otherTpp } = world;
  const made = async (changes: JsonObject, kid = tpp.signing.kid): Promise<WithAssertion> =>
    asAssertion(await clientAssertion(world, tpp, "BANKA", { claims: changes, header: { kid } }));
  const others = { iss: otherTpp.clientId, sub: otherTpp.clientId };
  const as = (made: WithAssertion): { form: { client_id: string; client_assertion: string } } => ({
    form: { client_id: otherTpp.clientId, ...made.form },
  });
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
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

Deno.test("POST token, par refuse an assertion without sub [CA-N9]", async (t) => {
  await using world = await openWorld();
  await refusedEverywhere(t, world, UNAUTHENTICATED, each(world, "sub", [undefined, null, ""]));
});

Deno.test("POST token, par want iss, sub and client_id to be one [CA-N10]", async (t) => {
  await using world = await openWorld();
  const { clientId } = world.tpp;
  const wrong = [undefined, null, "", 1, world.otherTpp.clientId, clientId.toLowerCase(), `${clientId} `, [
    clientId,
  ]];
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
    ...each(world, "iss", wrong),
    ...each(world, "sub", wrong.slice(3)),
    "both of another client": () =>
      claiming(world, { iss: world.otherTpp.clientId, sub: world.otherTpp.clientId }),
  });
});

Deno.test("POST token, par take the bank's issuer as aud, as a string, and nothing else [CA-N11] [FAPI-D2] [CA9]", async (t) => {
  await using world = await openWorld();
  await refusedEverywhere(
    t,
    world,
    UNAUTHENTICATED,
    each(world, "aud", [
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

Deno.test("POST token, par refuse an assertion that expired five minutes ago [CA-N12]", async (t) => {
  await using world = await openWorld();
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
    "exp 5 minutes past": () => claiming(world, { exp: seconds(world) - 300 }),
    "all times 6 minutes past": () => {
      const then = seconds(world) - 360;
      return claiming(world, { iat: then, nbf: then, exp: then + 60 });
    },
  });
});

Deno.test("POST token, par refuse an assertion without a sensible exp [CA-N13]", async (t) => {
  await using world = await openWorld();
  const now = seconds(world);
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
    ...each(world, "exp", [
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
    "1e999": () => written(world, (claims) => claims.replace(/"exp":\d+/, '"exp":1e999')),
    "-1e999": () => written(world, (claims) => claims.replace(/"exp":\d+/, '"exp":-1e999')),
  });
});

Deno.test("POST token, par accept iat and nbf eight seconds ahead [CA-N14]", async (t) => {
  await using world = await openWorld();
  const ahead = seconds(world) + 8;
  await acceptedEverywhere(t, world, {
    "iat = nbf = now + 8": () => claiming(world, { iat: ahead, nbf: ahead, exp: ahead + 60 }),
  });
});

Deno.test("POST token, par refuse iat or nbf 62 seconds ahead [CA-N15]", async (t) => {
  await using world = await openWorld();
  const ahead = seconds(world) + 62;
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
    "both": () => claiming(world, { iat: ahead, nbf: ahead, exp: ahead + 60 }),
    "iat alone": () => claiming(world, { iat: ahead, nbf: undefined, exp: ahead + 60 }),
    "nbf alone": () => claiming(world, { iat: undefined, nbf: ahead, exp: ahead + 60 }),
    "an hour": () => claiming(world, { iat: ahead + 3538, nbf: ahead + 3538, exp: ahead + 3598 }),
  });
});

Deno.test("POST token, par accept an assertion without iat and nbf [CA11]", async (t) => {
  await using world = await openWorld();
  await acceptedEverywhere(t, world, {
    "neither": () => claiming(world, { iat: undefined, nbf: undefined }),
    "fractions": () => claiming(world, { iat: seconds(world) + 0.5, exp: seconds(world) + 60.25 }),
  });
});

Deno.test("POST token, par refuse iat and nbf that are no numbers [CA11]", async (t) => {
  await using world = await openWorld();
  const wrong = [null, String(seconds(world)), [seconds(world)], {}];
  await refusedEverywhere(t, world, UNAUTHENTICATED, {
    ...each(world, "iat", wrong),
    ...each(world, "nbf", wrong),
    "iat 1e999": () => written(world, (claims) => claims.replace(/"iat":\d+/, '"iat":1e999')),
    "iat -1e999": () => written(world, (claims) => claims.replace(/"iat":\d+/, '"iat":-1e999')),
    "nbf -1e999": () => written(world, (claims) => claims.replace(/"nbf":\d+/, '"nbf":-1e999')),
  });
});

Deno.test("POST token, par want a jti of a sensible length [CA-N16]", async (t) => {
  await using world = await openWorld();
  await refusedEverywhere(
    t,
    world,
    UNAUTHENTICATED,
    each(world, "jti", [undefined, null, "", 7, ["a"], "j".repeat(257), "j".repeat(5000)]),
  );
});

Deno.test("POST token, par accept a jti of 1 to 256 characters of any kind [CA-N16]", async (t) => {
  await using world = await openWorld();
  await acceptedEverywhere(t, world, {
    "256 characters": () => claiming(world, { jti: crypto.randomUUID().padEnd(256, "j") }),
    "not ASCII": () => claiming(world, { jti: `€ "\\ \u0000 ${crypto.randomUUID()}` }),
    "__proto__": ({ name }) => claiming(world, { jti: `__proto__${name}` }),
  });
});

/** One case per value of a claim; `undefined` leaves it out. */
function each(world: World, claim: string, values: readonly unknown[]): Record<string, Case> {
  return Object.fromEntries(
    values.map((value): [string, Case] => [
      `${claim}: ${value === undefined ? "missing" : JSON.stringify(value).slice(0, 60)}`,
      () => claiming(world, { [claim]: value }),
    ]),
  );
}

/** Claims as text, for what JSON.stringify would not write. */
async function written(world: World, change: (claims: string) => string): Promise<WithAssertion> {
  const { key, kid } = world.tpp.signing;
  const text = change(JSON.stringify(assertionClaims(world)));
  return asAssertion(await rawJws(await key.privateKey("sign"), { alg: "PS256", kid }, text));
}

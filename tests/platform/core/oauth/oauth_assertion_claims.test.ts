/**
 * Client assertions at the token endpoint (both grants) and PAR: issuer, subject and audience, and unusual ones that are
 * right. `tests/attacks/jwt_*.test.ts` has the assertions that no endpoint accepts.
 */
import { asAssertion, claiming, type WithAssertion } from "support/assertions.ts";
import { clientAssertion, type JsonObject, seconds } from "testing/jwts.ts";
import { acceptedEverywhere, type Case, rejectedEverywhere } from "testing/oauth_requests.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";

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

Deno.test("POST token, par accept an assertion without iat and nbf [CA11]", async (t) => {
  await using env = await openEnvironment();
  await acceptedEverywhere(t, env, {
    "neither": () => claiming(env, { iat: undefined, nbf: undefined }),
    "fractions": () => claiming(env, { iat: seconds(env) + 0.5, exp: seconds(env) + 60.25 }),
  });
});

Deno.test("POST token, par accept unknown claims and the two names of the type [CA-N20] [FAPI-D19]", async (t) => {
  await using env = await openEnvironment();
  const typed = (typ: string): Case => async () =>
    asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { typ } }));
  await acceptedEverywhere(t, env, {
    "extra claims": () =>
      claiming(env, { tx_id: 1, scope: "x", "https://example.com/a": [null], client_id: "x" }),
    "extra header": async () =>
      asAssertion(await clientAssertion(env, env.tpp, "BANKA", { header: { tx_id: "1" } })),
    "typ JWT": typed("JWT"),
    "typ jwt": typed("jwt"),
    "typ client-authentication+jwt": typed("client-authentication+jwt"),
    "typ application/client-authentication+jwt": typed("application/client-authentication+jwt"),
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

/** Codes at the token endpoint as the OpenID conformance suite misuses them: by others, twice, late, without proof. */
import { assertEquals } from "@std/assert";
import * as oauth from "oauth4webapi";
import { openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";
import {
  agreed,
  begin,
  call,
  challenged,
  type Journey,
  later,
  openTpp,
  pay,
  redeem,
  redemptionRejected,
  rejected,
  type Tpp,
  withKey,
} from "./oauth4webapi_tpp.ts";
import { steps } from "support/steps.ts";

/** A journey whose code has come back. */
interface AtCode {
  readonly tpp: Tpp;
  readonly journey: Journey;
  readonly callback: URL;
}

const INVALID_GRANT = [400, "invalid_grant"];

/** A wrong way of redeeming a code, and what it is answered. */
type Misuse = readonly [attempt: (at: AtCode) => Promise<unknown>, code?: string];

const MISUSES: Readonly<Record<string, Misuse>> = {
  "another client [EnsureAuthorizationCodeIsBoundToClient, TA-N7]": [
    async ({ tpp, journey, callback }) =>
      redeem(await openTpp(tpp.env, { me: tpp.env.otherTpp }), journey, callback),
  ],
  "no verifier [PAREnsurePKCECodeVerifierRequired, TA-N9]": [
    ({ tpp, journey, callback }) => redeem(tpp, journey, callback, { verifier: oauth.nopkce }),
  ],
  "another verifier [PARIncorrectPKCECodeVerifierRejected, TA-N10]": [
    ({ tpp, journey, callback }) =>
      redeem(tpp, journey, callback, { verifier: oauth.generateRandomCodeVerifier() }),
  ],
  "another redirect URL [TA-N11]": [
    ({ tpp, journey, callback }) => redeem(tpp, journey, callback, { redirectUri: SHOP_REDIRECTS[1] ?? "" }),
  ],
  "another DPoP key [TA-N13]": [
    async ({ tpp, journey, callback }) => redeem(await withKey(tpp, 10), journey, callback),
    "invalid_dpop_proof",
  ],
};

Deno.test("A code is rejected to everyone but its owner with its verifier, redirect URL and key, and stays good [AUT-14]", async (t) => {
  await using env = await openEnvironment();
  await steps(t, MISUSES, async ([attempt, code = "invalid_grant"]) => {
    const at = await atCode(await openTpp(env));
    assertEquals(await redemptionRejected(at.tpp, () => attempt(at)), [400, code]);
    await pay(at.tpp, at.journey, (await redeem(at.tpp, at.journey, at.callback)).access_token);
  });
});

Deno.test("A code is rejected after 62 seconds [AttemptToUseExpiredAuthCode, TA-N4, AUT-14]", async () => {
  await using env = await openEnvironment();
  const { tpp, journey, callback } = await atCode(await openTpp(env));
  const late = await later(tpp, 62);
  assertEquals(await redemptionRejected(late, () => redeem(late, journey, callback)), INVALID_GRANT);
});

Deno.test("A code is rejected a second after it was used, and its token is no longer good [AttemptReuseAuthorizationCodeAfterOneSecond, TA-N5, AUT-14]", async () => {
  await using env = await openEnvironment();
  const { tpp, journey, callback } = await atCode(await openTpp(env));
  const { access_token } = await redeem(tpp, journey, callback);
  const funds = `domestic-payment-consents/v1/${journey.consentId}/funds-confirmation`;
  assertEquals((await call(tpp, access_token, funds)).status, 200);
  const again = await later(tpp, 1);
  const error = await redeem(again, journey, callback).catch((error: unknown) => error);
  assertEquals(error instanceof oauth.ResponseBodyError && [error.status, error.error], INVALID_GRANT);
  await challenged(() => call(again, access_token, funds), "invalid_token");
});

Deno.test("A client cannot redeem as another: its id with my assertion, my id with its assertion [EnsureClientIdInTokenEndpoint, CA-N8]", async (t) => {
  await using env = await openEnvironment();
  const { tpp, journey, callback } = await atCode(await openTpp(env));
  const other = await openTpp(env, { me: env.otherTpp });
  await steps(t, { "its id": tpp, "my id": other }, async (named) => {
    const { clientId } = (named === tpp ? other : tpp).me;
    const swapped: Tpp = {
      ...named,
      authenticate: async (server, client, body, headers) => {
        await named.authenticate(server, client, body, headers);
        body.set("client_id", clientId);
      },
    };
    const attempt = (): Promise<unknown> => redeem(swapped, journey, callback);
    assertEquals(await redemptionRejected(tpp, attempt), [401, "invalid_client"]);
  });
  await redeem(tpp, journey, callback);
});

Deno.test("Who holds no key gets no token: without proof, without certificate, with another's [EnsureHolderOfKeyRequired, TA-N14, CA-N24]", async (t) => {
  await using env = await openEnvironment();
  const { tpp, journey, callback } = await atCode(await openTpp(env));
  await t.step(
    "no DPoP proof",
    () => rejected(tpp, () => redeem(tpp, journey, callback, { proof: false }), 400, "invalid_dpop_proof"),
  );
  for (const [name, as] of Object.entries({ "no certificate": undefined, "another's": env.otherTpp })) {
    const bare: Tpp = { ...tpp, fetch: (url, init) => env.api(new Request(url, init), as) };
    await t.step(name, () => rejected(tpp, () => redeem(bare, journey, callback), 401, "invalid_client"));
  }
  await redeem(tpp, journey, callback);
});

Deno.test("There is no refresh token, and no grant for one [RefreshToken, TC-N3, TC-N11]", async () => {
  await using env = await openEnvironment();
  const { tpp, journey, callback } = await atCode(await openTpp(env));
  assertEquals((await redeem(tpp, journey, callback)).refresh_token, undefined);
  const { server, client, authenticate, dpop } = tpp;
  const options = { DPoP: dpop, [oauth.customFetch]: tpp.fetch };
  const attempt = async (): Promise<unknown> => {
    const answer = await oauth.refreshTokenGrantRequest(server, client, authenticate, "refresh", options);
    return await oauth.processRefreshTokenResponse(server, client, answer);
  };
  await rejected(tpp, attempt, 400, "unsupported_grant_type");
});

async function atCode(tpp: Tpp): Promise<AtCode> {
  const journey = await begin(tpp);
  return { tpp, journey, callback: await agreed(tpp, journey) };
}

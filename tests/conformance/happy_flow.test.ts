/** The good ways through the authorization server that the OpenID conformance suite takes, each to an accepted payment. */
import { assertEquals, assertMatch } from "@std/assert";
import { bodyOf, type Consent } from "testing/answers.ts";
import { Browser, openHandover, returnPath } from "testing/authorization_flow.ts";
import { callbackOf } from "support/public_clients.ts";
import { AUTH_URL, SHOP_REDIRECTS } from "testing/environment.ts";
import {
  agreed,
  begin,
  call,
  challenged,
  completed,
  makeConsent,
  openTpp,
  ownToken,
  pay,
  push,
  redeem,
  rejected,
  type Tpp,
  withKey,
} from "./oauth4webapi_tpp.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";

/** Minimum Shannon entropy, in bits, that the suite accepts in a token or code. */
const MIN_ENTROPY_BITS = 96;

test("Two clients pay, the second by dpop_jkt alone and with a query in its redirect URL [HappyFlow, TA-N18]", async ({ env }) => {
  const first = await openTpp(env, { me: env.otherTpp, key: 10 });
  const second = await openTpp(env);
  const [, withQuery = ""] = SHOP_REDIRECTS;
  const changes = {
    proof: false,
    parameters: { redirect_uri: withQuery, dpop_jkt: await second.dpop.calculateThumbprint() },
  };
  const callbacks = [await completed(first), await completed(second, changes)];
  assertEquals(callbacks.map((url) => [url.origin + url.pathname, [...url.searchParams.keys()], url.hash]), [
    ["https://other.example/callback", ["code", "state", "iss"], ""],
    ["https://shop.example/callback", ["dummy1", "dummy2", "code", "state", "iss"], ""],
  ]);
});

test("A client repeats its parameters beside request_uri, in any order [HappyFlow, AZ-N9]", async ({ env }) => {
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const url = new URL(journey.url.href.replace(/\?.*/, ""));
  const repeated = { redirect_uri: journey.redirectUri, scope: "payments", response_type: "code" };
  for (const [name, value] of Object.entries(repeated)) url.searchParams.set(name, value);
  for (const [name, value] of [...journey.url.searchParams].reverse()) url.searchParams.set(name, value);
  const { access_token } = await redeem(tpp, journey, await agreed(tpp, journey, url));
  await pay(tpp, journey, access_token);
});

test("Tokens and codes hold 256 random bits [HappyFlow, TC5, AZ6]", async ({ env }) => {
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const callback = await agreed(tpp, journey);
  const code = callback.searchParams.get("code") ?? "";
  const { access_token } = await redeem(tpp, journey, callback);
  for (
    const value of [code, access_token, journey.requestUri.replace("urn:ietf:params:oauth:request_uri:", "")]
  ) {
    assertMatch(value, /^[A-Za-z0-9_-]{43}$/);
    assertEquals(entropyBits(value) >= MIN_ENTROPY_BITS, true, value);
  }
  const issued = await Promise.all(Array.from({ length: 20 }, () => ownToken(tpp)));
  assertEquals(new Set([...issued, code, access_token]).size, 22);
});

test("A resource takes a token in the header alone, with any Accept that allows JSON, and no other client's [HappyFlow, RG-N4, DP-N18] [RS2] [RS6] [RS11]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const other = await openTpp(env, { me: env.otherTpp, key: 10 });
  const journey = await begin(tpp);
  const { access_token } = await redeem(tpp, journey, await agreed(tpp, journey));
  const url = (await pay(tpp, journey, access_token)).Links.Self;
  await t.step("token in the query", async () => {
    const answer = await tpp.fetch(`${url}?access_token=${access_token}`, {});
    assertEquals([answer.status, answer.headers.get("content-type")], [
      400,
      "application/json; charset=utf-8",
    ]);
    await answer.body?.cancel();
  });
  const accepted = ["application/json; charset=utf-8", "application/json, application/*+json, */*"];
  await stepsOf(t, [...accepted, "*/*"], (accept) => `Accept: ${accept}`, async (accept) => {
    const answer = await call(tpp, access_token, url, { headers: { accept } });
    assertEquals([answer.status, (await bodyOf<Consent>(answer)).Data.ConsentId], [200, journey.consentId]);
  });
  const strange = { ...tpp, fetch: other.fetch, me: other.me };
  await t.step(
    "the other client's key and certificate",
    () => challenged(() => call(other, access_token, url), "invalid_token"),
  );
  await t.step("the other client's key", async () => {
    const mixed = await withKey(tpp, 10);
    await challenged(() => call(mixed, access_token, url), "invalid_token");
  });
  await t.step(
    "the other client's certificate",
    () => challenged(() => call(strange, access_token, url), "invalid_token"),
  );
});

test("The customer rejects: access_denied with state of 128 characters and iss, and nothing else [UserRejectsAuthentication, AZ-N13]", async ({ env }) => {
  const tpp = await openTpp(env);
  const state = "s".repeat(128);
  const journey = await begin(tpp, { parameters: { state, redirect_uri: SHOP_REDIRECTS[1] } });
  const callback = await rejectedAtBank(tpp, journey.url);
  const { error_description, ...rest } = Object.fromEntries(callback.searchParams);
  assertEquals(rest, {
    dummy1: "lorem",
    dummy2: "ipsum",
    error: "access_denied",
    reason_code: "MS03",
    state,
    iss: `${AUTH_URL}/BANKA`,
  });
  assertMatch(error_description ?? "", /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  assertEquals(callback.hash, "");
});

test("The scheme of Authorization counts in any case [AccessTokenTypeHeaderCaseSensitivity, RG-N7]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const { access_token } = await redeem(tpp, journey, await agreed(tpp, journey));
  const url = (await pay(tpp, journey, access_token)).Links.Self;
  await stepsOf(t, ["dpOp", "DPOP", "dpop"], (scheme) => scheme, async (scheme) => {
    const answer = await call({ ...tpp, fetch: respelling(tpp, scheme) }, access_token, url);
    assertEquals([answer.status, (await bodyOf<Consent>(answer)).Data.ConsentId], [200, journey.consentId]);
  });
});

test("A client without OpenID Connect gets none: nonce and claims count for nothing, scope openid is rejected [PA-N15, FAPI-D23]", async ({ env, t }) => {
  const tpp = await openTpp(env);
  const extras = {
    "no nonce [EnsureAuthorizationRequestWithoutNonceSuccess]": {},
    "nonce of 64 characters [EnsureAuthorizationRequestWith64CharNonceSuccess]": { nonce: "n".repeat(64) },
    "long nonce [EnsureAuthorizationRequestWithLongNonce]": { nonce: "n".repeat(1000) },
    "claims [TestClaimsParameterIdentityClaims, TestEssentialAcrScaClaim]": {
      claims: JSON.stringify({ id_token: { acr: { essential: true, value: "urn:openbanking:psd2:sca" } } }),
    },
  };
  await steps(t, extras, async (parameters) => {
    const journey = await begin(tpp, { parameters });
    const callback = await agreed(tpp, journey);
    assertEquals([...callback.searchParams.keys()], ["code", "state", "iss"]);
    const tokens = await redeem(tpp, journey, callback);
    assertEquals(Object.keys(tokens).sort(), ["access_token", "expires_in", "scope", "token_type"]);
  });
  await t.step("scope openid", async () => {
    const consentId = await makeConsent(tpp);
    for (const scope of ["openid", "openid payments", "payments openid"]) {
      await rejected(tpp, () => push(tpp, consentId, { parameters: { scope } }), 400, "invalid_scope");
    }
  });
});

async function rejectedAtBank({ env, bank }: Tpp, url: URL): Promise<URL> {
  const browser = new Browser(env);
  const { claims } = await openHandover(bank, await browser.open(url.href));
  const path = await returnPath(env, bank, claims, { claims: { status_code: "failure" } });
  return callbackOf(await browser.open(path));
}

/** A `fetch` that spells the token's scheme in another case. */
function respelling({ fetch }: Tpp, scheme: string): Tpp["fetch"] {
  return (url, init) => {
    const sent = new Request(url, init);
    const token = sent.headers.get("authorization")?.replace(/^DPoP /, "");
    sent.headers.set("authorization", `${scheme} ${token}`);
    return fetch(url, sent);
  };
}

function entropyBits(value: string): number {
  const counts = Map.groupBy(value, (character) => character).values();
  const perCharacter = [...counts].map(({ length }) => length / value.length)
    .reduce((sum, share) => sum - share * Math.log2(share), 0);
  return perCharacter * value.length;
}

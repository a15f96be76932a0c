/** Authorization requests of the OpenID conformance suite: what counts is what was pushed, once and by its owner. */
import { assertEquals, assertMatch } from "@std/assert";
import { Browser } from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import {
  agreed,
  begin,
  type Journey,
  later,
  makeConsent,
  openTpp,
  pay,
  push,
  redeem,
  rejected,
  type Tpp,
} from "./oauth4webapi_tpp.ts";
import { steps } from "support/steps.ts";

Deno.test("client_id and request_uri are enough [ParWithoutDuplicateParameters, AZ-N8]", async () => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  assertEquals([...journey.url.searchParams.keys()], ["client_id", "request_uri"]);
  await paid(tpp, journey, await agreed(tpp, journey));
});

Deno.test("state comes back as it was pushed, or not at all", async (t) => {
  const long = "abcdefghij".repeat(100);
  const cases = {
    "1000 characters [EnsureAuthorizationRequestWithLongState, PA-N13]": [long, undefined],
    "none [EnsureAuthorizationRequestWithoutStateSuccess, PA-N14]": [undefined, undefined],
    "another one in the URL [EnsureDifferentStateInsideAndOutsideRequestObject, AZ-N10]": [
      "inside",
      "outside",
    ],
    "one in the URL alone [StateOnlyOutsideRequestObjectNotUsed, AZ1]": [undefined, "outside"],
  } as const;
  await steps(t, cases, async ([pushed, outside]) => {
    await using env = await openEnvironment();
    const tpp = await openTpp(env);
    const journey = await begin(tpp, { parameters: { state: pushed } });
    const url = new URL(journey.url);
    if (outside !== undefined) url.searchParams.set("state", outside);
    const callback = await agreed(tpp, journey, url);
    assertEquals(callback.searchParams.getAll("state"), pushed === undefined ? [] : [pushed]);
    await paid(tpp, journey, callback);
  });
});

Deno.test("Another nonce in the URL changes nothing [EnsureDifferentNonceInsideAndOutsideRequestObject, PA-N15]", async () => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const journey = await begin(tpp, { parameters: { nonce: "inside" } });
  const url = new URL(`${journey.url}&nonce=outside`);
  await paid(tpp, journey, await agreed(tpp, journey, url));
});

Deno.test("A redirect URL must be pushed, and registered; none beside request_uri is ever used", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const consentId = await makeConsent(tpp);
  const [registered = ""] = env.tpp.redirectUris;
  const random = crypto.randomUUID();
  const cases = {
    "none [EnsureRedirectUriInAuthorizationRequest, PA-N6]": undefined,
    "a random path [EnsureRegisteredRedirectUri, TolerateUnregisteredRedirectUri, PA-N7]":
      `${registered}/${random}`,
    "a random query [EnsureRegisteredRedirectUri, PA-N7]": `${registered}?${random}`,
    "a random host [EnsureRegisteredRedirectUri, PA-N7]": `https://${random}.example/callback`,
  };
  await steps(t, cases, async (redirect_uri) => {
    const parameters = { redirect_uri };
    await rejected(tpp, () => push(tpp, consentId, { parameters }), 400, "invalid_request");
  });
  await t.step("one in the URL alone [EnsureRequestObjectWithoutRedirectUriFails]", async () => {
    const url = `${tpp.server.authorization_endpoint}?${new URLSearchParams({
      client_id: tpp.client.client_id,
      redirect_uri: registered,
      response_type: "code",
    })}`;
    await assertPage(await new Browser(env).open(url));
  });
  await t.step("another one in the URL [AZ-N11]", async () => {
    const journey = await push(tpp, consentId);
    const url = new URL(journey.url);
    url.searchParams.set("redirect_uri", `https://${random}.example/`);
    const callback = await agreed(tpp, journey, url);
    assertEquals(callback.origin + callback.pathname, registered);
    await paid(tpp, journey, callback);
  });
});

Deno.test("An authorization request that was not pushed is a page [EnsureUnsignedAuthorizationRequestWithoutUsingParFails, AZ-N1]", async () => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const url = new URL(tpp.server.authorization_endpoint ?? "");
  const parameters = {
    client_id: tpp.client.client_id,
    response_type: "code",
    redirect_uri: env.tpp.redirectUris[0] ?? "",
    scope: "payments",
    state: "state",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    consent_id: await makeConsent(tpp),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const before = await env.snapshot();
  await assertPage(await new Browser(env).open(url.href));
  assertEquals(await env.snapshot(), before);
});

Deno.test("PAR takes response_type code, no request_uri, and POST alone", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const cases = {
    "code id_token [EnsureResponseTypeCodeIdTokenFails, PA-N5]": [
      "response_type",
      "code id_token",
      "unsupported_response_type",
    ],
    "token [EnsureResponseTypeTokenFails, PA-N5]": ["response_type", "token", "unsupported_response_type"],
    "request_uri [PARRejectRequestUriInParAuthorizationFormParams, PA-N2]": [
      "request_uri",
      journey.requestUri,
      "invalid_request",
    ],
  } as const;
  await steps(t, cases, async ([parameter, value, code]) => {
    const parameters = { [parameter]: value };
    await rejected(tpp, () => push(tpp, journey.consentId, { parameters }), 400, code);
  });
  await t.step("PUT [PARRejectInvalidHttpVerb, PA-N11]", async () => {
    const put: Tpp = { ...tpp, fetch: (url, init) => tpp.fetch(url, { ...init, method: "PUT" }) };
    await rejected(tpp, () => push(put, journey.consentId), 405, "invalid_request");
  });
});

Deno.test("A request_uri may be opened twice before the customer has agreed [PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion, AZ-N7]", async () => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const journey = await begin(tpp);
  const first = await new Browser(env).open(journey.url.href);
  assertEquals(first.status, 303);
  await paid(tpp, journey, await agreed(tpp, journey));
});

Deno.test("A request_uri is a page once it is used, old, or another client's", async (t) => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  await t.step("used [PARAttemptReuseRequestUri, AZ-N6]", async () => {
    const journey = await begin(tpp);
    await paid(tpp, journey, await agreed(tpp, journey));
    await assertPage(await new Browser(env).open(journey.url.href));
  });
  await t.step("another client's [PAREnsureRequestUriIsBoundToClient, AZ-N4]", async () => {
    const journey = await begin(tpp);
    const url = new URL(journey.url);
    url.searchParams.set("client_id", env.otherTpp.clientId);
    await assertPage(await new Browser(env).open(url.href));
    await paid(tpp, journey, await agreed(tpp, journey));
  });
  await t.step("600 s old [PARAttemptToUseExpiredRequestUri, AZ-N3]", async () => {
    const journey = await begin(tpp);
    await later(tpp, 600);
    await assertPage(await new Browser(env).open(journey.url.href));
  });
});

async function paid(tpp: Tpp, journey: Journey, callback: URL): Promise<void> {
  const { access_token } = await redeem(tpp, journey, callback);
  assertEquals((await pay(tpp, journey, access_token)).Data.Status, "AcceptedSettlementInProcess");
}

async function assertPage(answer: Response): Promise<void> {
  assertEquals([answer.status, answer.headers.get("location")], [400, null]);
  assertMatch(answer.headers.get("content-type") ?? "", /^text\/html/);
  await answer.body?.cancel();
}

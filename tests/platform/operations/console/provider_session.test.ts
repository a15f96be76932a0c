/** What a session of a person of the provider may do, and when the provider ends it. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { importJWK, type JWTPayload, SignJWT } from "jose";
import { type PlatformKeys, present } from "testing/answers.ts";
import { type ConsoleBrowser, consoleOf, formTokenIn, openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import {
  CLIENT_SECRET,
  openProvider,
  PROVIDER_ISSUER,
  type ProviderFixture,
} from "support/openid_provider.ts";
import { steps } from "support/steps.ts";

const CONSOLE = "https://console.example";
const LOGGED_OUT = "/console/sign-in/logged-out";
const CHANGE = "/console/banks/BANKA/hold";
const MINUTE = 60_000;

function environment(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    PLATFORM_OPERATIONS_OIDC_ISSUER: PROVIDER_ISSUER,
    PLATFORM_OPERATIONS_OIDC_AUDIENCE: "https://operations.platform.example",
    PLATFORM_OPERATIONS_OIDC_CLIENT_ID: "console",
    PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    PLATFORM_OPERATIONS_URL: CONSOLE,
    ...more,
  };
}

function connect(env: Environment, provider: ProviderFixture): void {
  const others = env.network;
  env.network = (request) =>
    request.url.startsWith(PROVIDER_ISSUER) ? provider.send(request) : others(request);
  env.now = Date.now();
  provider.claims = { roles: ["operator", "viewer", "security"] };
  provider.toConsole = async (request) => await env.platform.operations.fetch(request);
}

async function signedIn(env: Environment, provider: ProviderFixture): Promise<ConsoleBrowser> {
  const browser = consoleOf(env);
  assertEquals((await browser.get(await provider.signIn(browser))).status, 200);
  return browser;
}

const CONFIRM = `/console/sign-in/provider?${new URLSearchParams({ next: CHANGE, confirm: "1" })}`;
const REASON = { reason: "The bank asked for it." };

Deno.test("a change needs an authentication of the last minutes at the provider [OP26]", async (t) => {
  await using provider = await openProvider(CONSOLE);
  await using env = await openEnvironment({ environment: environment() });
  connect(env, provider);
  await t.step("a fresh one makes it, and its sign-in asked for one of the last eight hours", async () => {
    const browser = await signedIn(env, provider);
    assertEquals(provider.asked.searchParams.get("max_age"), "28800");
    assertEquals((await browser.submit(CHANGE, REASON)).status, 303);
  });
  await t.step("an older one reads, and its change leads to the provider", async () => {
    const browser = await signedIn(env, provider);
    env.now = Date.now() + 8 * MINUTE;
    assertEquals((await browser.get("/console/banks")).status, 200);
    const { status, headers } = await browser.get(CHANGE);
    assertEquals([status, headers.get("location")], [303, CONFIRM]);
    env.now = Date.now();
    const back = await browser.get(await provider.signIn(browser, undefined, CONFIRM));
    const { searchParams } = provider.asked;
    assertEquals([searchParams.get("max_age"), searchParams.get("acr_values")], ["300", null]);
    assertEquals(back.headers.get("refresh"), `0; url=${CHANGE}`);
    assertEquals((await browser.get(CHANGE)).status, 200);
  });
  await t.step("a form that is sent too late changes nothing, and leads to the provider", async () => {
    const path = CHANGE.replace("hold", "release");
    env.now = Date.now() + 6 * MINUTE; // the provider had authenticated the person before
    const browser = await signedIn(env, provider);
    const form_token = formTokenIn((await browser.get(path)).html);
    const before = await env.snapshot();
    env.now = Date.now() + 16 * MINUTE;
    const late = await browser.post(path, { form_token, ...REASON });
    assertEquals([late.status, await env.snapshot()], [403, before]);
    assertStringIncludes(late.html, "/console/sign-in/provider?next=%2Fconsole&amp;confirm=1");
    assertStringIncludes(late.html, `value="${form_token}"`);
    env.now = Date.now();
  });
  await t.step("who signed in with a token of the list needs no provider", async () => {
    const browser = await openConsole(env, "operator");
    env.now = Date.now() + 60 * MINUTE;
    assertEquals((await browser.get(CHANGE)).status, 200);
    env.now = Date.now();
  });
});

Deno.test("with acr values a change needs an authentication with one of them [OP26]", async () => {
  await using provider = await openProvider(CONSOLE);
  await using env = await openEnvironment({
    environment: environment({ PLATFORM_OPERATIONS_OIDC_ACR_VALUES: "urn:phr urn:mfa" }),
  });
  connect(env, provider);
  const browser = await signedIn(env, provider);
  assertEquals((await browser.get("/console/banks")).status, 200);
  assertEquals((await browser.get(CHANGE)).headers.get("location"), CONFIRM);
  for (const [acr, status] of [[undefined, 403], ["urn:pwd", 403], ["urn:mfa", 200]] as const) {
    provider.acr = acr;
    const back = await browser.get(await provider.signIn(browser, undefined, CONFIRM));
    assertEquals([back.status, provider.asked.searchParams.get("acr_values")], [status, "urn:phr urn:mfa"]);
    assertEquals((await browser.get(CHANGE)).status, status === 200 ? 200 : 303, String(acr));
  }
});

Deno.test("a sign-out at the provider ends the session of the console [OP27]", async () => {
  await using provider = await openProvider(CONSOLE);
  await using env = await openEnvironment({ environment: environment() });
  connect(env, provider);
  const other = await signedIn(env, provider);
  const browser = await signedIn(env, provider);
  const statuses: number[] = [];
  provider.toConsole = async (request) => {
    assertEquals(new URL(request.url).pathname, LOGGED_OUT);
    const answer = await env.platform.operations.fetch(request);
    statuses.push(answer.status);
    return answer;
  };
  await provider.signOut();
  assertEquals(statuses, [200]);
  assertEquals((await browser.get("/console")).status, 303);
  assertEquals((await other.get("/console")).status, 200, "another session at the provider goes on");
});

/** Differences from a good logout token of the person; each is refused, and ends no session. */
const FORGED: Readonly<
  Record<string, { readonly claims?: object; readonly header?: object; readonly key?: string }>
> = {
  "another issuer": { claims: { iss: "https://evil.example" } },
  "another client": { claims: { aud: "another" } },
  "no jti": { claims: { jti: undefined } },
  "no event": { claims: { events: {} } },
  "another event": { claims: { events: { "http://schemas.openid.net/event/other": {} } } },
  "neither sub nor sid": { claims: { sub: undefined } },
  "a nonce": { claims: { nonce: "n" } },
  "expired": { claims: { exp: Math.floor(Date.now() / 1000) - 120 } },
  "issued long ago": { claims: { iat: Math.floor(Date.now() / 1000) - 900 } },
  "the type of an access token": { header: { typ: "at+jwt" } },
  "another key": { key: "enc" },
};

async function logoutToken(
  { claims = {}, header = {}, key = "sig" }: typeof FORGED[string] = {},
): Promise<string> {
  const { keys } = JSON.parse(await platformKeySet()) as PlatformKeys;
  const [jwk, signing] = [key, "sig"].map((wanted) => present(keys.find(({ use }) => use === wanted)));
  const seconds = Math.floor(Date.now() / 1000);
  const all = {
    iss: PROVIDER_ISSUER,
    aud: "console",
    sub: "ana",
    iat: seconds,
    exp: seconds + 120,
    jti: crypto.randomUUID(),
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    ...claims,
  };
  return await new SignJWT(JSON.parse(JSON.stringify(all)) as JWTPayload)
    .setProtectedHeader({ alg: "PS256", typ: "logout+jwt", kid: present(signing).kid, ...header })
    .sign(await importJWK({ ...jwk, use: "sig", key_ops: ["sign"], alg: "PS256" }, "PS256"));
}

Deno.test("only the provider's logout token ends sessions, and it is good once [OP27]", async (t) => {
  await using provider = await openProvider(CONSOLE);
  await using env = await openEnvironment({ environment: environment() });
  connect(env, provider);
  const [browser, second] = [await signedIn(env, provider), await signedIn(env, provider)];
  const send = async (logout_token: string): Promise<number> =>
    (await consoleOf(env)
      .post(LOGGED_OUT, { logout_token })).status;
  await steps(t, { ...FORGED, "no token": undefined }, async (forged) => {
    assertEquals(await send(forged === undefined ? "" : await logoutToken(forged)), 400);
    assertEquals((await browser.get("/console")).status, 200);
  });
  await t.step("of a person it ends all sessions that have begun", async () => {
    const token = await logoutToken();
    env.now += 1000;
    assertEquals(await send(token), 200);
    assertEquals([(await browser.get("/console")).status, (await second.get("/console")).status], [303, 303]);
    env.now += 1000;
    const later = await signedIn(env, provider);
    assertEquals(await send(token), 400);
    assertEquals((await later.get("/console")).status, 200);
  });
});

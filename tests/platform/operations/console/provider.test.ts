/** Sign-in to the console at a real OpenID provider. */
import { assert, assertEquals } from "@std/assert";
import { ConsoleBrowser, consoleOf } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import {
  CLIENT_SECRET,
  openProvider,
  PROVIDER_ISSUER,
  type ProviderFixture,
} from "support/openid_provider.ts";

const CONSOLE = "https://console.example";
const WITH_PROVIDER = {
  PLATFORM_OPERATIONS_OIDC_ISSUER: PROVIDER_ISSUER,
  PLATFORM_OPERATIONS_OIDC_AUDIENCE: "https://operations.platform.example",
  PLATFORM_OPERATIONS_OIDC_CLIENT_ID: "console",
  PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: CLIENT_SECRET,
  PLATFORM_OPERATIONS_URL: CONSOLE,
};
const SESSION = "__Host-console-session";

interface Fixture {
  readonly env: Environment;
  readonly provider: ProviderFixture;
}

function openFixture(env: Environment, provider: ProviderFixture): Fixture {
  const directory = env.network;
  env.network = (request) =>
    request.url.startsWith(PROVIDER_ISSUER) ? provider.send(request) : directory(request);
  env.now = Date.now();
  return { env, provider };
}

/** Begins a sign-in and plays the operator at the provider. Returns the path and query of the return. */
function atProvider(
  { provider }: Fixture,
  browser: ConsoleBrowser,
  change?: (url: URL) => URL,
): Promise<string> {
  return provider.signIn(browser, change);
}

Deno.test("operators sign in at their OpenID provider [OP13]", async (t) => {
  await using provider = await openProvider(CONSOLE);
  await using env = await openEnvironment({ environment: WITH_PROVIDER });
  const fixture = openFixture(env, provider);
  await t.step(
    "with the roles of the claim, for 15 minutes, after which the provider says them again",
    async () => {
      const browser = consoleOf(fixture.env);
      const back = await browser.get(await atProvider(fixture, browser));
      assertEquals([back.status, back.headers.get("refresh")], [200, "0; url=/console"]);
      assert((await browser.get("/console")).html.includes("<bdi>ana@id.example</bdi>"));
      env.now += 900_000 - 60_000;
      assertEquals((await browser.get("/console")).status, 200);
      env.now += 61_000;
      assertEquals((await browser.get("/console")).status, 303);
      env.now = Date.now();
    },
  );
  await t.step("and their sign-out ends the session at the provider", async () => {
    const browser = consoleOf(fixture.env);
    await browser.get(await atProvider(fixture, browser));
    const { html } = await browser.get("/console");
    const form_token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";
    const out = await browser.post("/console/sign-out", { form_token });
    const address = out.headers.get("refresh")?.replace("0; url=", "") ?? "";
    assertEquals([out.status, new URL(address).origin], [200, PROVIDER_ISSUER]);
    assertEquals(new URL(address).searchParams.get("post_logout_redirect_uri"), `${CONSOLE}/console/sign-in`);
    assert(out.html.includes(`href="${address.replaceAll("&", "&amp;")}"`));
    assertEquals((await browser.get("/console")).status, 303);
    const there = new ConsoleBrowser((request) => provider.send(request));
    const asked = await there.get(address);
    assertEquals(asked.status, 200, "the provider takes the console's address, and asks");
    assert(asked.html.includes("/session/end/confirm"));
  });
  await t.step("without a role: no page", async () => {
    const browser = consoleOf(fixture.env);
    provider.claims = { roles: ["root"] };
    await browser.get(await atProvider(fixture, browser));
    assertEquals((await browser.get("/console")).status, 403);
    provider.claims = { roles: ["viewer"] };
  });
  const rejected: Readonly<Record<string, (browser: ConsoleBrowser) => Promise<string>>> = {
    "another state": async (browser) => (await atProvider(fixture, browser)).replace("state=", "state=_"),
    "no state": async (browser) => (await atProvider(fixture, browser)).replace(/&?state=[^&]*/, ""),
    "another nonce": (browser) =>
      atProvider(fixture, browser, (url) => (url.searchParams.set("nonce", "another"), url)),
    "another code challenge": (browser) =>
      atProvider(fixture, browser, (url) => (url.searchParams.set("code_challenge", "A".repeat(43)), url)),
    "another issuer": async (browser) =>
      (await atProvider(fixture, browser)).replace("id.example", "evil.example"),
    "another browser's return": async () => await atProvider(fixture, consoleOf(fixture.env)),
    "a return for another sign-in of this browser": async (browser) => {
      const first = await atProvider(fixture, browser);
      await browser.get("/console/sign-in/provider");
      return first;
    },
    "a return that was used": async (browser) => {
      const path = await atProvider(fixture, browser);
      await browser.get(path);
      browser.cookies.delete(SESSION);
      return path;
    },
    "after ten minutes": async (browser) => {
      const path = await atProvider(fixture, browser);
      env.now += 601_000;
      return path;
    },
    "the operator's rejection": async (browser) => {
      const path = await atProvider(fixture, browser);
      return path.replace(/code=[^&]*/, "error=access_denied");
    },
  };
  for (const [name, prepare] of Object.entries(rejected)) {
    await t.step(name, async () => {
      const browser = consoleOf(fixture.env);
      const page = await browser.get(await prepare(browser));
      assertEquals(page.status, 403);
      assertEquals(browser.cookies.get(SESSION), undefined);
      assertEquals((await browser.get("/console")).status, 303);
      env.now = Date.now();
    });
  }
});

Deno.test("without its provider the console asks for a token and says why [OP13]", async () => {
  await using env = await openEnvironment({ environment: WITH_PROVIDER });
  const browser = consoleOf(env);
  const page = await browser.get("/console/sign-in/provider");
  assertEquals(page.status, 503);
  assert(page.html.includes("The identity provider does not respond."));
  assertEquals((await browser.signIn("viewer")).status, 303);
});

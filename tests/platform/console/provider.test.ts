/** Sign-in to the console at a real OpenID provider. */
import { assert, assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { platformKeySet } from "testing/platform_keys.ts";

const ISSUER = "https://id.example";
const CONSOLE = "https://console.example";
const SECRET = "a-secret-between-console-and-provider";
const WITH_PROVIDER = {
  OPERATIONS_OIDC_ISSUER: ISSUER,
  OPERATIONS_OIDC_AUDIENCE: "https://operations.platform.example",
  OPERATIONS_OIDC_CLIENT_ID: "console",
  OPERATIONS_OIDC_CLIENT_SECRET: SECRET,
  OPERATIONS_URL: CONSOLE,
};
const PROXIED = { "x-forwarded-proto": "https", "x-forwarded-host": "id.example" };
const SESSION = "__Host-console-session";

interface ProviderFixture extends AsyncDisposable {
  /** The roles of the person who signs in. */
  roles: unknown;
  send(request: Request): Promise<Response>;
}

/** The provider, which authenticates everybody as the name that they type. */
async function openProvider(): Promise<ProviderFixture> {
  const [jwk] = JSON.parse(await platformKeySet()).keys.filter(({ use }: JsonWebKey) => use === "sig");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fixture: ProviderFixture = {
    roles: ["viewer"],
    async send(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(PROXIED)) headers.set(name, value);
      const { method } = request;
      const body = method === "POST" ? { body: await request.text() } : {};
      return await fetch(`${origin}${pathname}${search}`, { method, headers, redirect: "manual", ...body });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = new Provider(
    ISSUER,
    {
      clients: [{
        client_id: "console",
        client_secret: SECRET,
        redirect_uris: [`${CONSOLE}/console/sign-in/return`],
        id_token_signed_response_alg: "PS256",
      }],
      jwks: { keys: [{ ...jwk, alg: "PS256" }] },
      claims: { openid: ["sub", "roles"] },
      conformIdTokenClaims: false,
      findAccount: (_c: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, roles: fixture.roles }),
      }),
      pkce: { required: () => true },
      ttl: { IdToken: 3600 },
      features: { devInteractions: { enabled: true } },
    } as ConstructorParameters<typeof Provider>[1],
  );
  provider.proxy = true;
  server.on("request", provider.callback());
  return fixture;
}

interface Fixture {
  readonly env: Environment;
  readonly provider: ProviderFixture;
}

function openFixture(env: Environment, provider: ProviderFixture): Fixture {
  const directory = env.network;
  env.network = (request) => request.url.startsWith(ISSUER) ? provider.send(request) : directory(request);
  env.now = Date.now();
  return { env, provider };
}

function consoleBrowser({ env }: Fixture): ConsoleBrowser {
  return new ConsoleBrowser((request) => env.platform.operations.fetch(request));
}

/** Begins a sign-in and plays the operator at the provider. Returns the path and query of the return. */
async function atProvider(
  fixture: Fixture,
  browser: ConsoleBrowser,
  change = (url: URL) => url,
): Promise<string> {
  const begun = await browser.get("/console/sign-in/provider?next=/console");
  assertEquals(begun.status, 303);
  const there = new ConsoleBrowser((request) => fixture.provider.send(request));
  let page = await there.get(change(new URL(begun.headers.get("location") ?? "")).href);
  for (let step = 0; step < 10; step++) {
    const location = page.headers.get("location");
    if (location?.startsWith(CONSOLE)) return location.slice(CONSOLE.length);
    if (location !== null) {
      page = await there.get(new URL(location, ISSUER).href);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page.html)?.[1];
    const action = /action="([^"]+)"/.exec(page.html)?.[1];
    if (prompt === undefined || action === undefined) throw new Error(page.html);
    page = await there.post(new URL(action, ISSUER).href, { prompt, login: "ana", password: "x" });
  }
  throw new Error("the provider does not come to an end");
}

Deno.test("operators sign in at their OpenID provider [OP13]", async (t) => {
  await using provider = await openProvider();
  await using env = await openEnvironment({ environment: WITH_PROVIDER });
  const fixture = openFixture(env, provider);
  await t.step("with the roles of the claim, until the ID token ends", async () => {
    const browser = consoleBrowser(fixture);
    const back = await browser.get(await atProvider(fixture, browser));
    assertEquals([back.status, back.headers.get("refresh")], [200, "0; url=/console"]);
    assert((await browser.get("/console")).html.includes("<bdi>ana@id.example</bdi>"));
    env.now += 3_600_000 - 60_000;
    assertEquals((await browser.get("/console")).status, 200);
    env.now += 61_000;
    assertEquals((await browser.get("/console")).status, 303);
    env.now = Date.now();
  });
  await t.step("without a role: no page", async () => {
    const browser = consoleBrowser(fixture);
    provider.roles = ["root"];
    await browser.get(await atProvider(fixture, browser));
    assertEquals((await browser.get("/console")).status, 403);
    provider.roles = ["viewer"];
  });
  const rejected: Readonly<Record<string, (browser: ConsoleBrowser) => Promise<string>>> = {
    "another state": async (browser) => (await atProvider(fixture, browser)).replace(/state=./, "state=_"),
    "no state": async (browser) => (await atProvider(fixture, browser)).replace(/&?state=[^&]*/, ""),
    "another nonce": (browser) =>
      atProvider(fixture, browser, (url) => (url.searchParams.set("nonce", "another"), url)),
    "another code challenge": (browser) =>
      atProvider(fixture, browser, (url) => (url.searchParams.set("code_challenge", "A".repeat(43)), url)),
    "another issuer": async (browser) =>
      (await atProvider(fixture, browser)).replace("id.example", "evil.example"),
    "another browser's return": async () => await atProvider(fixture, consoleBrowser(fixture)),
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
      const browser = consoleBrowser(fixture);
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
  const browser = new ConsoleBrowser((request) => env.platform.operations.fetch(request));
  const page = await browser.get("/console/sign-in/provider");
  assertEquals(page.status, 503);
  assert(page.html.includes("The identity provider does not respond."));
  assertEquals((await browser.signIn("viewer")).status, 303);
});

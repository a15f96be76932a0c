/** A real OpenID provider with one client, and a person who signs in there. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { type PlatformKeys, present } from "testing/answers.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { platformKeySet } from "testing/platform_keys.ts";

/** The provider's issuer; tests route its host to {@link ProviderFixture.send}. */
export const PROVIDER_ISSUER = "https://id.example";
export const CLIENT_SECRET = "a-secret-between-console-and-provider";
const PROXIED = { "x-forwarded-proto": "https", "x-forwarded-host": "id.example" };

export interface ProviderFixture extends AsyncDisposable {
  /** The claims of the person who signs in, beside the subject. */
  claims: Readonly<Record<string, unknown>>;
  send(request: Request): Promise<Response>;
  /**
   * Begins a sign-in at the console and plays the person at the provider.
   *
   * @param change of the address that the console has made
   * @returns path and query with which the browser returns to the console
   */
  signIn(browser: ConsoleBrowser, change?: (url: URL) => URL): Promise<string>;
}

/** The provider, which authenticates everybody as the name that they type. The console is at this origin. */
export async function openProvider(consoleUrl: string, idTokenSeconds = 3600): Promise<ProviderFixture> {
  const jwk = present(
    (JSON.parse(await platformKeySet()) as PlatformKeys).keys.find(({ use }) => use === "sig"),
  );
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fixture: ProviderFixture = {
    claims: { roles: ["viewer"] },
    async send(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(PROXIED)) headers.set(name, value);
      const { method } = request;
      const body = method === "POST" ? { body: await request.text() } : {};
      return await fetch(`${origin}${pathname}${search}`, { method, headers, redirect: "manual", ...body });
    },
    signIn: (browser, change = (url) => url) => atProvider(fixture, { browser, consoleUrl, change }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = new Provider(
    PROVIDER_ISSUER,
    {
      clients: [{
        client_id: "console",
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${consoleUrl}/console/sign-in/return`],
        post_logout_redirect_uris: [`${consoleUrl}/console/sign-in`],
        id_token_signed_response_alg: "PS256",
      }],
      jwks: { keys: [{ ...jwk, alg: "PS256" }] },
      claims: { openid: ["sub", "roles", "organisation"] },
      conformIdTokenClaims: false,
      findAccount: (_c: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...fixture.claims }),
      }),
      pkce: { required: () => true },
      ttl: { IdToken: idTokenSeconds },
      features: { devInteractions: { enabled: true } },
    } as ConstructorParameters<typeof Provider>[1],
  );
  provider.proxy = true;
  server.on("request", provider.callback());
  return fixture;
}

async function atProvider(
  fixture: ProviderFixture,
  { browser, consoleUrl, change }: {
    readonly browser: ConsoleBrowser;
    readonly consoleUrl: string;
    readonly change: (url: URL) => URL;
  },
): Promise<string> {
  const begun = await browser.get("/console/sign-in/provider?next=/console");
  if (begun.status !== 303) throw new Error(`the console answered ${begun.status}`);
  const there = new ConsoleBrowser((request) => fixture.send(request));
  let page = await there.get(change(new URL(begun.headers.get("location") ?? "")).href);
  for (let step = 0; step < 10; step++) {
    const location = page.headers.get("location");
    if (location?.startsWith(consoleUrl)) return location.slice(consoleUrl.length);
    if (location !== null) {
      page = await there.get(new URL(location, PROVIDER_ISSUER).href);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page.html)?.[1];
    const action = /action="([^"]+)"/.exec(page.html)?.[1];
    if (prompt === undefined || action === undefined) throw new Error(page.html);
    const typed = { prompt, login: "ana", password: "x" };
    page = await there.post(new URL(action, PROVIDER_ISSUER).href, typed);
  }
  throw new Error("the provider does not come to an end");
}

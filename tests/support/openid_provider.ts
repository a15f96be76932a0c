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
  /** How the provider says that it has authenticated the person; undefined: it does not say. */
  acr: string | undefined;
  /** Takes what the provider sends to the console on its own. */
  toConsole: (request: Request) => Promise<Response>;
  /** The address at the provider of the last sign-in. */
  asked: URL;
  send(request: Request): Promise<Response>;
  /**
   * Begins a sign-in at the console and plays the person at the provider.
   *
   * @param change of the address that the console has made
   * @param from path of the console that leads to the provider
   * @returns path and query with which the browser returns to the console
   */
  signIn(browser: ConsoleBrowser, change?: (url: URL) => URL, from?: string): Promise<string>;
  /** The person who has signed in last ends the session at the provider. */
  signOut(): Promise<void>;
}

/** The provider, which authenticates everybody as the name that they type. The console is at this origin. */
export async function openProvider(consoleUrl: string, idTokenSeconds = 3600): Promise<ProviderFixture> {
  const jwk = present(
    (JSON.parse(await platformKeySet()) as PlatformKeys).keys.find(({ use }) => use === "sig"),
  );
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let person: ConsoleBrowser | undefined;
  const fixture: ProviderFixture = {
    claims: { roles: ["viewer"] },
    toConsole: () => Promise.reject(new Error("the provider sends nothing on its own")),
    acr: undefined,
    asked: new URL(PROVIDER_ISSUER),
    async send(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(PROXIED)) headers.set(name, value);
      const { method } = request;
      const body = method === "POST" ? { body: await request.text() } : {};
      return await fetch(`${origin}${pathname}${search}`, { method, headers, redirect: "manual", ...body });
    },
    signIn(browser, change = (url) => url, from = "/console/sign-in/provider?next=/console") {
      person = new ConsoleBrowser((request) => fixture.send(request));
      return atProvider(fixture, { browser, there: person, from, consoleUrl, change });
    },
    async signOut() {
      const { html } = await present(person).get(`${PROVIDER_ISSUER}/session/end?client_id=console`);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
      await present(person).post(`${PROVIDER_ISSUER}/session/end/confirm`, { xsrf, logout: "yes" });
    },
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
        backchannel_logout_uri: `${consoleUrl}/console/sign-in/logged-out`,
        backchannel_logout_session_required: true,
      }],
      jwks: { keys: [{ ...jwk, alg: "PS256" }] },
      claims: { openid: ["sub", "roles", "organisation"] },
      acrValues: ["urn:pwd", "urn:mfa"],
      fetch: (url: string | URL, init: RequestInit) => fixture.toConsole(new Request(url, init)),
      conformIdTokenClaims: false,
      findAccount: (c: { readonly oidc: { readonly session?: { acr?: string } } }, id: string) => {
        if (c.oidc.session !== undefined && fixture.acr !== undefined) c.oidc.session.acr = fixture.acr;
        return { accountId: id, claims: () => ({ sub: id, ...fixture.claims }) };
      },
      pkce: { required: () => true },
      ttl: { IdToken: idTokenSeconds },
      features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    } as ConstructorParameters<typeof Provider>[1],
  );
  provider.proxy = true;
  server.on("request", provider.callback());
  return fixture;
}

async function atProvider(
  fixture: ProviderFixture,
  { browser, there, from, consoleUrl, change }: {
    readonly browser: ConsoleBrowser;
    readonly there: ConsoleBrowser;
    readonly from: string;
    readonly consoleUrl: string;
    readonly change: (url: URL) => URL;
  },
): Promise<string> {
  const begun = await browser.get(from);
  if (begun.status !== 303) throw new Error(`the console answered ${begun.status}`);
  fixture.asked = change(new URL(begun.headers.get("location") ?? ""));
  let page = await there.get(fixture.asked.href);
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

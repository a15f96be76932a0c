/** Sign-in to the directory's console at a real OpenID provider. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ConsoleBrowser } from "testing/console_browser.ts";
import {
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";
import {
  CLIENT_SECRET,
  openProvider,
  PROVIDER_ISSUER,
  type ProviderFixture,
} from "support/openid_provider.ts";
import { browserOf } from "./visited.ts";

const URL_OF_CONSOLE = "https://directory-admin.example";
const SESSION = "__Host-directory-session";

async function openFixture(provider: ProviderFixture): Promise<DirectoryEnvironment> {
  const client = { id: "console", secret: CLIENT_SECRET };
  const env = await openDirectoryEnvironment({
    console: {
      url: URL_OF_CONSOLE,
      provider: { issuer: PROVIDER_ISSUER, rolesClaim: "roles", organisationClaim: "organisation", client },
    },
    fetch: (input, init) => provider.send(new Request(input, init)),
  });
  env.now = Date.now();
  return env;
}

Deno.test("administrators sign in at their OpenID provider [DRC2]", async (t) => {
  await using provider = await openProvider(URL_OF_CONSOLE, 600);
  await using env = await openFixture(provider);
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const arrive = async (): Promise<ConsoleBrowser> => {
    const browser = browserOf(env);
    const back = await browser.get(await provider.signIn(browser));
    assertEquals([back.status, back.headers.get("refresh")], [200, "0; url=/console"]);
    return browser;
  };
  await t.step("with the role, and the history names them", async () => {
    provider.claims = { roles: ["viewer", "directory-administrator"] };
    const browser = await arrive();
    const at = "/console/participants/SHOP/software/status";
    assertEquals((await browser.submit(at, { status: "Inactive", reason: "audit" })).status, 303);
    const entries = (await env.admin("GET", "/participants/SHOP/history")).body.history;
    assertEquals(entries.at(-1)?.who, "ana@id.example");
  });
  await t.step(
    "and change nothing when their authentication is old, or the provider has ended it",
    async () => {
      const browser = await arrive();
      const at = "/console/participants/SHOP/software/status";
      env.now += 480_000;
      const asked = (await browser.get(at)).headers.get("location");
      assertEquals(asked, `/console/sign-in/provider?${new URLSearchParams({ next: at, confirm: "1" })}`);
      env.now = Date.now();
      provider.toConsole = async (request) => await env.adminFetch(request);
      assertEquals((await browser.get(at)).status, 200);
      await provider.signOut();
      assertEquals(
        (await browser.get(at)).headers.get("location"),
        `/console/sign-in?next=${encodeURIComponent(at)}`,
      );
    },
  );
  await t.step("until the ID token ends", async () => {
    const browser = await arrive();
    env.now += 600_000 - 60_000;
    assertEquals((await browser.get("/console")).status, 200);
    env.now += 61_000;
    assertEquals((await browser.get("/console")).status, 303);
    env.now = Date.now();
  });
  for (
    const roles of [
      ["security", "operator", "auditor"],
      ["directory-administrators"],
      "administrator",
      undefined,
    ]
  ) {
    await t.step(`with the roles ${roles}: no page and no change`, async () => {
      provider.claims = { roles };
      const browser = await arrive();
      const page = await browser.get("/console");
      assertEquals(page.status, 403);
      assertStringIncludes(page.html, "Your roles do not allow this");
      const form_token = /name="form_token" value="([^"]+)"/.exec(page.html)?.[1] ?? "";
      const sent = { form_token, status: "Active", reason: "audit" };
      assertEquals((await browser.post("/console/participants/SHOP/software/status", sent)).status, 403);
      assertEquals((await env.admin("GET", "/participants/SHOP")).body.software_client_status, "Inactive");
    });
  }
  await t.step("as a participant's person, of the organisation of the claim alone", async () => {
    provider.claims = { roles: ["participant", "directory-administrator"], organisation: "SHOP" };
    const browser = await arrive();
    assertEquals((await browser.get("/console")).headers.get("location"), "/console/own");
    assertStringIncludes((await browser.get("/console/own")).html, "Shop Limited");
    assertEquals((await browser.get("/console/participants/SHOP")).status, 403);
    for (const organisation of ["NOBODY", "shop"]) {
      provider.claims = { roles: "participant", organisation };
      assertEquals((await (await arrive()).get("/console/own")).status, 404);
    }
    for (const organisation of ["SHOP", "", 7, ["SHOP"]]) { // without the role of participants
      provider.claims = { roles: "directory-administrator", organisation };
      assertEquals((await (await arrive()).get("/console")).status, 403);
    }
    for (const organisation of [undefined, "", ["SHOP"], "SHOP/../BANKA"]) {
      provider.claims = { roles: "participant directory-administrator", organisation };
      assertEquals((await (await arrive()).get("/console")).status, 403);
    }
  });
  await t.step("not as a person of a withdrawn participant", async () => {
    provider.claims = { roles: "participant", organisation: "SHOP" };
    const browser = await arrive();
    assertEquals((await browser.get("/console/own")).status, 200);
    await env.admin("PUT", "/participants/SHOP/status", { status: "Withdrawn", reason: "audit" });
    assertEquals((await browser.get("/console/own")).status, 303);
    const another = browserOf(env);
    assertEquals((await another.get(await provider.signIn(another))).status, 403);
    assertEquals(another.cookies.get(SESSION), undefined);
  });
  await t.step("not with another state", async () => {
    const browser = browserOf(env);
    const page = await browser.get((await provider.signIn(browser)).replace("state=", "state=_"));
    assertEquals(page.status, 403);
    assertEquals(browser.cookies.get(SESSION), undefined);
  });
});

Deno.test("without its provider the directory's console asks for a token and says why [DRC2]", async () => {
  const provider = {
    issuer: PROVIDER_ISSUER,
    rolesClaim: "roles",
    client: { id: "console", secret: CLIENT_SECRET },
  };
  await using env = await openDirectoryEnvironment({
    console: { url: URL_OF_CONSOLE, provider },
    fetch: () => Promise.reject(new TypeError("no route")),
  });
  const page = await browserOf(env).get("/console/sign-in/provider");
  assertEquals(page.status, 503);
  assert(page.html.includes("The identity provider does not respond."));
});

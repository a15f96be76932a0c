/** The sandbox's pages that try operations send for their own forms only, and to the sandbox's platform only. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { composeDeveloperPages, type DeveloperPages } from "../../../src/sandbox/developer/app.ts";
import { operationOf, OPERATIONS, tryPath } from "../../../src/sandbox/developer/operations.ts";
import { checkoutToken } from "../../../src/sandbox/shop/session.ts";
import {
  authUrl,
  openTppEnvironment,
  shopAlone,
  shopUrl,
  type TppEnvironment,
} from "support/sandbox_tpp_platform.ts";
import { bodyOf } from "testing/answers.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";

const SESSION = "a-browser-that-has-opened-a-developer-page-";
const COOKIE = `__Host-shop_session=${SESSION}`;
const TOKEN_PATH = tryPath("BANKA", "issueAccessToken");
const GRANT = "grant_type=client_credentials\nscope=payments";

async function opened(): Promise<TppEnvironment & DeveloperPages> {
  const env = await openTppEnvironment();
  const pages = composeDeveloperPages({
    tpps: shopAlone(env.tpp),
    shopUrl,
    authUrl,
    banksUrl: "https://banks.example",
    now: Date.now,
  });
  return { ...env, ...pages };
}

async function form(
  fields: Readonly<Record<string, string>>,
  { path = TOKEN_PATH, headers = {} }: {
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Request> {
  return new Request(`${shopUrl}${path}`, {
    method: "POST",
    body: new URLSearchParams({ csrf: await checkoutToken(SESSION), ...fields }),
    headers: { origin: shopUrl, cookie: COOKIE, ...headers },
  });
}

function sentIn(env: TppEnvironment): readonly string[] {
  return env.seen.map(({ path }) => path).filter((path) => !path.includes(".well-known"));
}

Deno.test("the pages send only what their own form asks, in its own session [SB12]", async () => {
  const env = await opened();
  const body = GRANT;
  const forged = {
    "another origin": await form({ body }, { headers: { origin: "https://evil.example" } }),
    "no origin": await form({ body }, { headers: { origin: "null" } }),
    "another token": await form({ body, csrf: await checkoutToken("another") }),
    "no session": await form({ body }, { headers: { cookie: "" } }),
    "another host": new Request(`https://evil.example${TOKEN_PATH}`, await form({ body })),
  };
  for (const [what, request] of Object.entries(forged)) {
    assertEquals((await env.fetch(request)).status, 403, what);
  }
  assertEquals(sentIn(env), []);
  const sent = await env.fetch(await form({ body }));
  assertEquals([sent.status, sent.headers.get("location")], [303, `${TOKEN_PATH}#answer`]);
  assertEquals(sentIn(env)[0], "/BANKA/token.oauth2/v1");
});

Deno.test("the pages sign for a TPP of the list alone, chosen by a form of their own [SB12]", async () => {
  const env = await opened();
  const path = "/developer/try";
  const forged = {
    "another origin": await form({ name: "shop" }, { path, headers: { origin: "https://evil.example" } }),
    "another token": await form({ name: "shop", csrf: "x" }, { path }),
  };
  for (const [what, request] of Object.entries(forged)) {
    assertEquals((await env.fetch(request)).status, 403, what);
  }
  for (const name of ["bank-a", "../shop", "shop/..", "", "SHOP"]) {
    assertEquals((await env.fetch(await form({ name }, { path }))).status, 400, name);
  }
  assertEquals((await env.fetch(await form({ name: "shop" }, { path }))).status, 303);
  assertEquals(sentIn(env), []);
});

Deno.test("the target of a form is an operation of a bank of the sandbox, whatever the form says [SB12]", async () => {
  const env = await opened();
  const missing = [
    tryPath("BANKC", "issueAccessToken"),
    tryPath("BANKA", "redriveOrder"),
    tryPath("..", "pollEvents"),
  ];
  for (const path of missing) {
    assertEquals((await env.fetch(await form({ body: GRANT }, { path }))).status, 404, path);
  }
  assertEquals((await env.fetch(await form({ body: "x".repeat(70_000) }))).status, 413);
  await env.fetch(await form({ body: GRANT }));
  const before = sentIn(env).length;
  const path = tryPath("BANKA", "getDomesticPaymentConsent");
  for (const id of ["../../operations", "a/b", "", "https://evil.example", "a?b"]) {
    await env.fetch(await form({ id, token: "client_credentials" }, { path }));
    const page = await (await env.fetch(new Request(`${shopUrl}${path}`, { headers: { cookie: COOKIE } })))
      .text();
    assertStringIncludes(page, "The id is not one", id);
  }
  assertEquals(sentIn(env).length, before);
});

Deno.test("a page shows neither tokens nor assertions, and another session nothing of it [SB12]", async () => {
  const env = await opened();
  await env.fetch(await form({ body: GRANT }));
  const own = await env.fetch(new Request(`${shopUrl}${TOKEN_PATH}`, { headers: { cookie: COOKIE } }));
  const page = await own.text();
  assertMatch(page, /200 OK/);
  assertEquals(/eyJ[\w-]{30}/.test(page), false);
  assertStringIncludes(page, "client_assertion, decoded");
  const other = await (await env.fetch(new Request(`${shopUrl}${TOKEN_PATH}`))).text();
  assertEquals(other.includes("200 OK"), false);
});

Deno.test("only a sandbox's reference has links to pages that try its operations [SB12]", async () => {
  await using env = await openEnvironment();
  const document = await bodyOf(env.browser(new Request(`${AUTH_URL}/openapi.json`))) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
  };
  const known = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId)
  );
  assertEquals(OPERATIONS.map(({ id }) => id).filter((id) => !known.includes(id)), []);
  assertEquals(OPERATIONS.flatMap(({ next }) => next).filter((id) => operationOf(id) === undefined), []);
  const reference = await env.browser(new Request(`${AUTH_URL}/docs/reference/authorization`));
  assert(!(await reference.text()).includes("Try it"));
  for (const path of ["/developer", TOKEN_PATH]) {
    assertEquals((await env.browser(new Request(`${AUTH_URL}${path}`))).status, 404, path);
  }
});

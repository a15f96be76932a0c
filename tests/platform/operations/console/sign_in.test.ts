/** Sign-in with an operator's token, sessions, and forms of the console. */
import { assert, assertEquals } from "@std/assert";
import { openCredentials } from "../../../../src/base/http/credentials.ts";
import { OPERATORS } from "../../../../src/platform/guards/security/operator_roles.ts";
import { type ConsoleBrowser, consoleOf, formTokenIn } from "testing/console_browser.ts";
import { openEnvironment } from "testing/environment.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { stepsOf } from "support/steps.ts";

const SESSION = "console-session";

async function isSignedIn(browser: ConsoleBrowser): Promise<boolean> {
  return (await browser.get("/console")).status === 200;
}

Deno.test("an operator signs in with a token, and out for good [OP13]", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  const first = await browser.get("/console");
  const root = await browser.get("/");
  assertEquals([root.status, root.headers.get("location")], [303, "/console"]);
  assertEquals([first.status, first.headers.get("location")], [303, "/console/sign-in?next=%2Fconsole"]);
  const signedIn = await browser.signIn("viewer");
  assertEquals([signedIn.status, signedIn.headers.get("location")], [303, "/console"]);
  const dashboard = await browser.get("/console");
  assertEquals(dashboard.status, 200);
  assert(dashboard.html.includes("<bdi>viewer</bdi>"));
  const copy = browser.cookies.get(SESSION) ?? "";
  assert(copy.length > 100 && !copy.includes(OPERATOR_TOKENS.viewer), "the cookie does not show the token");
  const out = await browser.post("/console/sign-out", { form_token: formTokenIn(dashboard.html) });
  assertEquals([out.status, out.headers.get("location")], [303, "/console/sign-in"]);
  browser.cookies.set(SESSION, copy);
  assert(!await isSignedIn(browser), "a copy of the cookie is of no use");
  assertEquals(env.logged.filter((line) => line.includes("a-token-of")), []);
});

Deno.test("a session ends after eight hours, at a restart, and with its operator's token [OP13]", async (t) => {
  let list = await operatorsFile();
  let version = 0;
  const operators = openCredentials(OPERATORS, {
    version: () => Promise.resolve(String(version)),
    text: () => Promise.resolve(list),
  }, () => 0);
  await using env = await openEnvironment({ operators });
  const browser = consoleOf(env);
  await t.step("after eight hours", async () => {
    await browser.signIn("viewer");
    env.now += 8 * 3_600_000 - 2000;
    assert(await isSignedIn(browser));
    env.now += 3000;
    assert(!await isSignedIn(browser));
  });
  await t.step("at a restart", async () => {
    await browser.signIn("viewer");
    await env.restart();
    assert(!await isSignedIn(browser));
  });
  await t.step("with the token", async () => {
    await browser.signIn("viewer");
    assert(await isSignedIn(browser));
    const { operators: all } = JSON.parse(list) as { readonly operators: readonly object[] };
    const revoked_at = new Date(0).toISOString();
    list = JSON.stringify({ operators: all.map((one) => ({ ...one, revoked_at })) });
    version += 1;
    assert(!await isSignedIn(browser));
  });
});

Deno.test("a changed or foreign session cookie is no session [OP13]", async (t) => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  await browser.signIn("maria");
  const own = browser.cookies.get(SESSION) ?? "";
  const [head = "", , ...rest] = own.split(".");
  const none = btoa(JSON.stringify({ alg: "none" })).replaceAll("=", "");
  const claims = {
    aud: "session",
    exp: 9_999_999_999,
    members: { id: "x", signedIn: { kind: "provider", name: "x", roles: ["security"] } },
  };
  const changed: Readonly<Record<string, string>> = {
    "empty": "",
    "shorter": own.slice(0, -1),
    "a changed part": [head, "", ...rest.with(1, `A${rest[1]?.slice(1)}B`)].join("."),
    "an unsigned JWT": `${none}.${btoa(JSON.stringify(claims)).replaceAll("=", "")}.`,
    "an operator's token": OPERATOR_TOKENS.maria,
  };
  await stepsOf(t, Object.entries(changed), ([name]) => name, async ([, cookie]) => {
    browser.cookies.set(SESSION, cookie);
    assert(!await isSignedIn(browser));
  });
  browser.cookies.set(SESSION, own);
  assert(await isSignedIn(browser), "the nearest valid cookie");
});

Deno.test("cookies are HttpOnly, Strict and, with https, bound to the host [OP13]", async () => {
  await using env = await openEnvironment({
    environment: { PLATFORM_OPERATIONS_URL: "https://console.example" },
  });
  const browser = consoleOf(env);
  await browser.signIn("viewer");
  assert(await isSignedIn(browser));
  const [session = ""] = browser.set.filter((cookie) => cookie.startsWith("__Host-console-session="));
  const attributes = session.split("; ").slice(1).toSorted();
  assertEquals(attributes, ["HttpOnly", "Path=/", "SameSite=Strict", "Secure"]);
});

Deno.test("wrong tokens are rejected, slowed down, and sign nobody in [OP13]", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  const statuses: number[] = [];
  for (let guess = 0; guess < 12; guess++) {
    const page = await browser.submit("/console/sign-in", { token: `${OPERATOR_TOKENS.maria}x` });
    statuses.push(page.status);
  }
  assertEquals(statuses, [...Array(10).fill(403), 429, 429]);
  assert(!await isSignedIn(browser));
  assertEquals((await browser.signIn("maria")).status, 303, "the right token");
  assertEquals(env.logged.filter((line) => line.includes("a-token-of")), []);
});

Deno.test("the sign-in form needs the token of this browser [OP14]", async () => {
  await using env = await openEnvironment();
  const [victim, attacker] = [consoleOf(env), consoleOf(env)];
  const form_token = formTokenIn((await attacker.get("/console/sign-in")).html);
  await victim.get("/console/sign-in");
  for (const sent of [{ form_token }, {}, { form_token: "" }]) {
    const page = await victim.post("/console/sign-in", { ...sent, token: OPERATOR_TOKENS.viewer });
    assertEquals(page.status, 403);
  }
  assert(!await isSignedIn(victim));
});

Deno.test("after the sign-in the console leads to its own pages only [OP13]", async (t) => {
  await using env = await openEnvironment();
  const elsewhere = [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/console\\..\\evil",
    "/console/../operations/audit",
    "/consoles",
    "/console@evil.example",
    "javascript:alert(1)",
    "/console/sign-in",
    "/console/sign-out",
    "/operations/controls",
    "/console?x=\r\nset-cookie:a=b",
  ];
  await stepsOf(t, elsewhere, (next) => JSON.stringify(next), async (next) => {
    const signedIn = await consoleOf(env).signIn("viewer", next);
    assertEquals([signedIn.status, signedIn.headers.get("location")], [303, "/console"]);
  });
  const own = await consoleOf(env).signIn("viewer", "/console/orders?state=dead");
  assertEquals(own.headers.get("location"), "/console/orders?state=dead");
});

Deno.test("pages have the strict policy, and no part of what was sent unescaped", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  const page = await browser.get(
    `/console/sign-in?next=${encodeURIComponent('"><script>alert(1)</script>')}`,
  );
  assert(!page.html.includes("<script"));
  assertEquals(page.headers.get("cache-control"), "no-store");
  assertEquals(page.headers.get("x-frame-options"), "DENY");
  assert(page.headers.get("content-security-policy")?.startsWith("default-src 'none'; style-src 'self';"));
});

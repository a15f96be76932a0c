/** What ends or protects a visit at a sandbox bank: refusals, wrong entries, a failing platform, foreign browsers. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { ALICE_EUR_AT_BANKA } from "../../../src/sandbox/bank/customers.ts";
import { ALICE, arrive, BankBrowser, CODE, outcome } from "../../support/bank_browser.ts";
import { AUTH_URL } from "../../support/bank_platform_double.ts";
import { type BankWorld, bankWorld, initiationOf, sealHandover } from "../../support/bank_environment.ts";

const refusals: Record<string, [string, (browser: BankBrowser) => Promise<unknown>]> = {
  login: ["not-authenticated", (browser) => browser.submit("login", { decision: "refuse" })],
  code: ["cust-alice", async (browser) => {
    await browser.submit("login", ALICE);
    await browser.submit("otp", { decision: "refuse" });
  }],
  consent: ["cust-alice", async (browser) => {
    await browser.submit("login", ALICE);
    await browser.submit("otp", CODE);
    await browser.submit("consent", { decision: "refuse" });
  }],
};

for (const [page, [sub, refuse]] of Object.entries(refusals)) {
  Deno.test(`refusing on the ${page} page returns failure`, async () => {
    using world = await bankWorld();
    const browser = await arrive(world, "BANKB");
    await refuse(browser);
    assertEquals(await outcome(world, browser, "BANKB"), `failure refused_by_customer ${sub}`);
    assertEquals(world.platform.calls.length, 1);
  });
}

Deno.test("three wrong passwords return failure, and the right one comes too late", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  const fields = browser.formFields("login");
  const wrong = { ...ALICE, password: "wrong" };
  assertStringIncludes((await browser.submit("login", wrong)).html, "2 tries are left");
  assertStringIncludes(
    (await browser.submit("login", { ...wrong, username: "nobody" })).html,
    "1 try is left",
  );
  await browser.submit("login", wrong);
  assertEquals(await outcome(world, browser), "failure authentication_failed not-authenticated");
  const firstReturn = browser.shown.leftFor;
  const late = await browser.send(browser.path, {
    method: "POST",
    body: new URLSearchParams({ ...fields, ...ALICE }),
  });
  assertEquals(late.leftFor, firstReturn);
});

Deno.test("wrong codes are counted apart from wrong passwords", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  await browser.submit("login", { ...ALICE, password: "wrong" });
  await browser.submit("login", { ...ALICE, password: "wrong" });
  await browser.submit("login", ALICE);
  await browser.submit("otp", { ...CODE, code: "000000" });
  await browser.submit("otp", { ...CODE, code: "000000" });
  await browser.submit("otp", { ...CODE, code: "000000" });
  assertEquals(await outcome(world, browser), "failure authentication_failed cust-alice");
  assertEquals(world.platform.calls.length, 1);
});

Deno.test("a consent that cannot be read returns neither success nor failure", async () => {
  using world = await bankWorld();
  world.platform.statusFor = () => 400;
  assertEquals(
    await outcome(world, await arrive(world, "BANKA")),
    "error consent_unavailable not-authenticated",
  );
});

Deno.test("a consent that contradicts debtor_account_present is not authorised", async () => {
  using world = await bankWorld();
  world.platform.initiation = initiationOf(ALICE_EUR_AT_BANKA);
  const browser = new BankBrowser(world.banks);
  await browser.open(`/BANKA/sca?oAuthUrl=${await sealHandover(world, { debtor_account_present: "false" })}`);
  assertEquals(await outcome(world, browser), "error consent_unavailable not-authenticated");
});

Deno.test("accounts that the platform does not take never end in success", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  await browser.submit("login", ALICE);
  world.platform.statusFor = (method) => method === "PUT" ? 503 : undefined;
  await browser.submit("otp", CODE);
  assertEquals(await outcome(world, browser), "error accounts_not_sent cust-alice");
});

Deno.test("a visit can go on after a moment in which nothing could be encrypted to the platform", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA", ALICE_EUR_AT_BANKA);
  await browser.submit("login", ALICE);
  const { path, shown } = browser;
  world.platform.nowMs += 300_000;
  world.platform.keySetStatus = 503;
  assertEquals((await browser.submit("otp", CODE)).status, 503);
  world.platform.keySetStatus = 200;
  assertEquals((await browser.open(path)).html, shown.html);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(world, browser), "success success cust-alice");
});

Deno.test("POST sca/:flow refuses a body that is too large, is no form, or names a field twice", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  const { path } = browser;
  const fields = new URLSearchParams({ ...browser.formFields("login"), ...ALICE });
  const post = async (body: BodyInit): Promise<number> =>
    (await browser.send(path, { method: "POST", body })).status;
  assertEquals(await post(`${fields}&filler=${"x".repeat(8192)}`), 413);
  assertEquals(await post(String(fields)), 403); // text/plain
  assertEquals(await post(new URLSearchParams(`${fields}&decision=refuse`)), 403);
  assertEquals(await post(fields), 200);
});

Deno.test("a visit belongs to its browser, its bank, its form and 15 minutes", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  const { path } = browser;
  const body = (fields: Record<string, string>): RequestInit => ({
    method: "POST",
    body: new URLSearchParams({ ...browser.formFields("login"), ...ALICE, ...fields }),
  });
  const stranger = new BankBrowser(world.banks);
  assertEquals((await stranger.open(path)).status, 410);
  assertEquals((await stranger.send(path, body({}))).status, 410);
  assertEquals((await stranger.open(path.replace("BANKA", "BANKB"))).status, 410);
  const forged = await world.banks.fetch(
    new Request(`http://localhost:8443${path}`, {
      ...body({ csrf: "forged" }),
      headers: { cookie: await cookieOf(world) },
    }),
  );
  assertEquals(forged.status, 410); // another visit's cookie
  const wrongCsrf = new BankBrowser(world.banks);
  await wrongCsrf.open(`/BANKA/sca?oAuthUrl=${await sealHandover(world)}`);
  assertEquals((await wrongCsrf.submit("login", { ...ALICE, csrf: "forged" })).status, 403);

  world.platform.nowMs += 900_000;
  assertEquals((await browser.open(path)).status, 410);
});

Deno.test("an entry of an earlier form changes nothing", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  const earlier = { ...browser.formFields("login"), decision: "refuse" };
  await browser.submit("login", ALICE);
  const { html } = await browser.send(browser.path, { method: "POST", body: new URLSearchParams(earlier) });
  assertStringIncludes(html, 'id="otp"');
});

Deno.test("two visits in one browser do not disturb each other", async () => {
  using world = await bankWorld();
  const browser = await arrive(world, "BANKA");
  const first = browser.path;
  await browser.open(`/BANKA/sca?oAuthUrl=${await sealHandover(world)}`);
  assert(browser.path !== first);
  await browser.submit("login", ALICE);
  assertStringIncludes((await browser.open(first)).html, 'id="login"');
});

Deno.test("pages carry the security headers and escape what others wrote", async () => {
  using world = await bankWorld();
  const { headers, html } = (await arrive(world, "BANKA")).shown;
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("referrer-policy"), "no-referrer");
  const policy = headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertStringIncludes(policy, `form-action 'self' ${AUTH_URL}`);
  assertFalse(policy.includes("unsafe"));
  assertStringIncludes(html, "Demo &lt;Shop&gt; Ltd");
  assertFalse(html.includes("<script") || html.includes("style="));
  assertStringIncludes(html, "<!DOCTYPE html>");
});

Deno.test("the cookie is for this visit's path, unreadable for scripts, and Secure where the bank is https", async () => {
  using plainWorld = await bankWorld();
  const plain = await cookieLine(plainWorld);
  assertMatch(
    plain,
    /^bank_visit=[\w-]{43}; Max-Age=900; Path=\/BANKA\/sca\/[\w-]{16}; HttpOnly; SameSite=Lax$/,
  );
  using secureWorld = await bankWorld({ banksUrl: "https://banks.example" });
  const secure = await cookieLine(secureWorld);
  assertMatch(secure, /^__Secure-bank_visit=.*; HttpOnly; Secure; SameSite=Lax$/);
});

async function cookieOf(world: BankWorld): Promise<string> {
  return (await cookieLine(world)).split(";")[0] ?? "";
}

async function cookieLine(world: BankWorld): Promise<string> {
  const request = new Request(`http://localhost:8443/BANKA/sca?oAuthUrl=${await sealHandover(world)}`);
  return (await world.banks.fetch(request)).headers.get("set-cookie") ?? "";
}

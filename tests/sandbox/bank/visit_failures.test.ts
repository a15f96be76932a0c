/** Failures of a visit at a sandbox bank: rejections, wrong entries, a failing platform, foreign browsers. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { ALICE_EUR_AT_BANKA } from "../../../src/sandbox/bank/customers.ts";
import { AUTH_URL } from "testing/environment.ts";
import { toBank } from "testing/authorization_flow.ts";
import { ALICE, BankBrowser, BANKS_URL, CODE } from "support/bank_browser.ts";
import { arrive, type BanksEnvironment, openBanksEnvironment } from "support/banks_environment.ts";
import { consentCalls, consentFrom, outcome, sealHandover } from "support/bank_visits.ts";

/** The platform answers calls of the back channel by this method with a status. */
function failing(env: BanksEnvironment, method: string, status: number): void {
  env.inPlaceOfPlatform = (request) =>
    request.method === method && request.url.includes("/back-channel-auth/")
      ? new Response(null, { status })
      : undefined;
}

const rejections: Record<string, [string, (browser: BankBrowser) => Promise<unknown>]> = {
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

for (const [page, [sub, reject]] of Object.entries(rejections)) {
  Deno.test(`rejecting on the ${page} page returns failure`, async () => {
    await using env = await openBanksEnvironment();
    const { visit: browser } = await arrive(env, { bank: env.bankB });
    await reject(browser);
    assertEquals(await outcome(env, browser, env.bankB), `failure refused_by_customer ${sub}`);
    assertEquals(consentCalls(env).length, 1);
  });
}

Deno.test("three wrong passwords return failure, and the right one comes too late", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  const fields = browser.formFields("login");
  const wrong = { ...ALICE, password: "wrong" };
  assertStringIncludes((await browser.submit("login", wrong)).html, "2 tries are left");
  assertStringIncludes(
    (await browser.submit("login", { ...wrong, username: "nobody" })).html,
    "1 try is left",
  );
  await browser.submit("login", wrong);
  assertEquals(await outcome(env, browser), "failure authentication_failed not-authenticated");
  const firstReturn = browser.shown.leftFor;
  const late = await browser.send(browser.path, {
    method: "POST",
    body: new URLSearchParams({ ...fields, ...ALICE }),
  });
  assertEquals(late.leftFor, firstReturn);
});

Deno.test("wrong codes are counted apart from wrong passwords", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  await browser.submit("login", { ...ALICE, password: "wrong" });
  await browser.submit("login", { ...ALICE, password: "wrong" });
  await browser.submit("login", ALICE);
  await browser.submit("otp", { ...CODE, code: "000000" });
  await browser.submit("otp", { ...CODE, code: "000000" });
  await browser.submit("otp", { ...CODE, code: "000000" });
  assertEquals(await outcome(env, browser), "failure authentication_failed cust-alice");
  assertEquals(consentCalls(env).length, 1);
});

/** The form of the page, sent twice before the first answer comes, and once more after it. */
async function clickTwice(
  browser: BankBrowser,
  form: string,
  fields: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const [path, body] = [browser.path, new URLSearchParams({ ...browser.formFields(form), ...fields })];
  const click = async () => (await browser.send(path, { method: "POST", body })).leftFor;
  return [...await Promise.all([click(), click()]), await click()];
}

Deno.test("a double click with a wrong code or password is one try", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  await clickTwice(browser, "login", { ...ALICE, password: "wrong" });
  assertStringIncludes(browser.shown.html, "2 tries are left");
  await browser.submit("login", ALICE);
  await clickTwice(browser, "otp", { ...CODE, code: "000000" });
  assertStringIncludes(browser.shown.html, "2 tries are left");
});

for (const [name, accounts] of Object.entries({ implicit: ALICE_EUR_AT_BANKA, explicit: undefined })) {
  Deno.test(`a double click on the right code of an ${name} consent has one result`, async () => {
    await using env = await openBanksEnvironment();
    const { visit: browser } = await arrive(env, { body: consentFrom(accounts) });
    await browser.submit("login", ALICE);
    const [first, ...more] = await clickTwice(browser, "otp", CODE);
    assertEquals(more, [first, first]);
    assertEquals(await outcome(env, browser), "success success cust-alice");
    assertEquals(consentCalls(env).length, accounts === undefined ? 2 : 1); // one read, one report
  });
}

Deno.test("a consent that cannot be read returns neither success nor failure", async () => {
  await using env = await openBanksEnvironment();
  failing(env, "GET", 400);
  assertEquals(await outcome(env, (await arrive(env)).visit), "error consent_unavailable not-authenticated");
});

Deno.test("a consent that contradicts debtor_account_present is not authorised", async () => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env, { body: consentFrom(ALICE_EUR_AT_BANKA) });
  const browser = new BankBrowser(env.banks);
  const contradicting = await sealHandover(env, flow, { debtor_account_present: "false" });
  await browser.open(`/BANKA/sca?oAuthUrl=${contradicting}`);
  assertEquals(await outcome(env, browser), "error consent_unavailable not-authenticated");
});

Deno.test("accounts that the platform does not take never end in success", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  await browser.submit("login", ALICE);
  failing(env, "PUT", 503);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "error accounts_not_sent cust-alice");
});

Deno.test("a visit can go on after a moment in which nothing could be encrypted to the platform", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { body: consentFrom(ALICE_EUR_AT_BANKA) });
  await browser.submit("login", ALICE);
  const { path, shown } = browser;
  env.now += 300_000;
  env.inPlaceOfPlatform = ({ url }) =>
    url.endsWith("/jwks") ? new Response(null, { status: 503 }) : undefined;
  assertEquals((await browser.submit("otp", CODE)).status, 503);
  env.inPlaceOfPlatform = () => undefined;
  assertEquals((await browser.open(path)).html, shown.html);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "success success cust-alice");
});

Deno.test("POST sca/:flow rejects a body that is too large, is no form, or names a field twice", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  const { path } = browser;
  const fields = new URLSearchParams({ ...browser.formFields("login"), ...ALICE });
  const post = async (body: BodyInit): Promise<number> =>
    (await browser.send(path, { method: "POST", body })).status;
  assertEquals(await post(`${fields}&filler=${"x".repeat(8192)}`), 413);
  assertEquals(await post(String(fields)), 403); // text/plain
  assertEquals(await post(new URLSearchParams(`${fields}&decision=reject`)), 403);
  assertEquals(await post(fields), 200);
});

Deno.test("a visit belongs to its browser, its bank and its form", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser, ...flow } = await arrive(env);
  const { path } = browser;
  const body = (fields: Record<string, string>): RequestInit => ({
    method: "POST",
    body: new URLSearchParams({ ...browser.formFields("login"), ...ALICE, ...fields }),
  });
  const outsider = new BankBrowser(env.banks);
  assertEquals((await outsider.open(path)).status, 410);
  assertEquals((await outsider.send(path, body({}))).status, 410);
  assertEquals((await outsider.open(path.replace("BANKA", "BANKB"))).status, 410);
  const forged = await env.banks.fetch(
    new Request(`${BANKS_URL}${path}`, {
      ...body({ csrf: "forged" }),
      headers: { cookie: (await cookieLine(env)).split(";")[0] ?? "" },
    }),
  );
  assertEquals(forged.status, 410); // another visit's cookie
  const wrongCsrf = new BankBrowser(env.banks);
  await wrongCsrf.open(`/BANKA/sca?oAuthUrl=${await sealHandover(env, flow)}`);
  assertEquals((await wrongCsrf.submit("login", { ...ALICE, csrf: "forged" })).status, 403);
});

Deno.test("a customer who comes back after 15 minutes is led back with a failure, once, for a day [G1]", async () => {
  await using env = await openBanksEnvironment();
  const [{ visit: reloading }, { visit: entering }] = [await arrive(env), await arrive(env)];
  env.now += 900_000;
  await reloading.open(reloading.path);
  assertEquals(await outcome(env, reloading), "failure timed_out not-authenticated");
  const { leftFor } = reloading.shown;
  await reloading.open(reloading.path);
  assertEquals(reloading.shown.leftFor, leftFor);
  await entering.submit("login", ALICE);
  assertEquals(await outcome(env, entering), "failure timed_out not-authenticated");
  env.now += 86_400_000;
  await arrive(env); // forgets older visits
  assertEquals((await reloading.open(reloading.path)).status, 410);
});

Deno.test("an entry of an earlier form changes nothing", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  const earlier = { ...browser.formFields("login"), decision: "refuse" };
  await browser.submit("login", ALICE);
  const { html } = await browser.send(browser.path, { method: "POST", body: new URLSearchParams(earlier) });
  assertStringIncludes(html, 'id="otp"');
});

Deno.test("two visits in one browser do not disturb each other", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser, ...flow } = await arrive(env);
  const first = browser.path;
  await browser.open(`/BANKA/sca?oAuthUrl=${await sealHandover(env, flow)}`);
  assert(browser.path !== first);
  await browser.submit("login", ALICE);
  assertStringIncludes((await browser.open(first)).html, 'id="login"');
});

Deno.test("pages carry the security headers and escape what others wrote", async () => {
  await using env = await openBanksEnvironment();
  const { visit, handover, ...flow } = await arrive(env);
  const act = { ...handover.act, sub: "Demo <Shop> Ltd" };
  const token = await sealHandover(env, { ...flow, handover }, { act });
  const { headers, html } = await visit.open(`/BANKA/sca?oAuthUrl=${token}`);
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
  await using plain = await openBanksEnvironment({ banksUrl: "http://localhost:8443" });
  assertMatch(
    await cookieLine(plain),
    /^bank_visit=[\w-]{43}; Max-Age=87300; Path=\/BANKA\/sca\/[\w-]{16}; HttpOnly; SameSite=Lax$/,
  );
  await using secure = await openBanksEnvironment();
  assertMatch(await cookieLine(secure), /^__Secure-bank_visit=.*; HttpOnly; Secure; SameSite=Lax$/);
});

async function cookieLine(env: BanksEnvironment): Promise<string> {
  const token = await sealHandover(env, await toBank(env));
  const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/sca?oAuthUrl=${token}`));
  return response.headers.get("set-cookie") ?? "";
}

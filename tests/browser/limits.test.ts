/**
 * Payments that must not continue: in another browser than they began in, and after their time. Each time the customer
 * reads what happened, whether money moved and what to do, and no payment is made.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import type { Ecosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { sandboxClock } from "support/sandbox_clock.ts";
import { assertAccessible, assertFits, assertPaid, picture } from "./page_checks.ts";

/** An authorization session lasts 15 minutes. */
const TOO_LONG_SECONDS = 16 * 60;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

Deno.test({
  name: "a payment ends where it must: in another browser, and after its time [B4]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    await using ecosystem = await openPooledSandbox();
    await using browser = await openChromium();
    await t.step("a bank's return in another browser", () => otherBrowser(browser, ecosystem));
    await t.step("three wrong passwords, three wrong codes", () => wrongEntries(browser, ecosystem));
    await t.step("pages left open past their time", () => leftOpen(browser, ecosystem));
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function otherBrowser(browser: Browser, { endpoints }: Ecosystem): Promise<void> {
  const own = await openPage(browser, "en-GB");
  await order(own, endpoints.shop_url);
  await signIn(own);
  const address = await returnAddress(own);
  const foreign = await openPage(browser, "fr");
  const answer = await foreign.goto(address);
  assertEquals(answer?.status(), 400);
  await assertExplained(foreign, "Continuez dans le navigateur où vous avez commencé", "Non.");
  await foreign.locator(".languages summary").click();
  await foreign.locator('nav a[lang="es"]').click();
  await foreign.waitForURL(/\/problem\?page=other_browser/); // the address that led here must not be asked for again
  assertEquals(await foreign.getAttribute("html", "lang"), "es");
  assertEquals(await foreign.title(), await foreign.locator("h1").innerText());
  assertMatch(await foreign.locator("main").innerText(), /otro navegador/);
  assert(await foreign.locator("h1:visible").count() === 1);
  await picture(foreign, "limits-other-browser");
  await own.goto(address); // the other browser changed no state
  await own.locator('#consent input[name="account"]:enabled').first().check();
  await own.locator('#consent button[value="accept"]').click();
  await own.waitForURL(/\/orders\//);
  await assertPaid(own);
  await foreign.goto(own.url());
  assertMatch(await foreign.locator("main").innerText(), /appartient à un autre navigateur/);
  for (const page of [own, foreign]) await page.context().close();
}

/** After too many wrong entries the bank stops, and the shop states that no money was paid. */
async function wrongEntries(browser: Browser, { endpoints }: Ecosystem): Promise<void> {
  for (const step of ["login", "otp"]) {
    const page = await openPage(browser, "en-GB");
    await order(page, endpoints.shop_url);
    if (step === "otp") await signIn(page);
    for (const words of ["2 tries are left.", "1 try is left."]) {
      await enterWrongly(page, step);
      assert((await page.locator('[role="alert"]').innerText()).endsWith(words), words);
    }
    await enterWrongly(page, step);
    await page.waitForURL(/\/orders\//);
    assertMatch(await page.locator("#outcome").innerText(), /No money has moved/);
    assertEquals(await page.locator("#payment-status").innerText(), "Not paid (access_denied)");
    await page.context().close();
  }
}

/** Existing values stay in the form. After a complaint the focused field is filled. */
async function enterWrongly(page: Page, step: string): Promise<void> {
  const hasComplaint = await page.locator('[role="alert"]').count() > 0;
  if (hasComplaint) await page.keyboard.type("000000");
  else if (step === "otp") await page.fill("#code", "000000");
  else {
    await page.fill("#username", "alice");
    await page.fill("#password", "wrong");
  }
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
}

async function leftOpen(browser: Browser, ecosystem: Ecosystem): Promise<void> {
  const { shop_url } = ecosystem.endpoints;
  const [atBank, atConsent] = [await openPage(browser, "en-GB"), await openPage(browser, "en-GB")];
  await order(atBank, shop_url);
  await order(atConsent, shop_url);
  await signIn(atConsent);
  await enterCode(atConsent);
  await atConsent.locator('#consent input[name="account"]:enabled').first().check();
  await sandboxClock(ecosystem.endpoints).advance(TOO_LONG_SECONDS);
  await atConsent.locator('#consent button[value="accept"]').click();
  await atConsent.waitForURL(/\/orders\//); // a late customer returns to the shop
  assertEquals(await atConsent.locator("#payment-status").innerText(), "Not paid (access_denied)");
  await picture(atConsent, "limits-consent-too-late");
  const visit = atBank.url();
  await signIn(atBank);
  await atBank.waitForURL(/\/orders\//);
  assertEquals(await atBank.locator("#payment-status").innerText(), "Not paid (access_denied)");
  const elsewhere = await openPage(browser, "en-GB");
  await elsewhere.goto(visit);
  await elsewhere.locator('h1:text-is("Your visit is over")').waitFor();
  assertMatch(await elsewhere.locator("main").innerText(), /Go back to the shop/);
  await assertAccessible(elsewhere, "a visit that is over");
  for (const page of [atBank, atConsent, elsewhere]) await page.context().close();
}

/** Asserts the page explains what happened, whether money moved, what to do and whom to ask. */
async function assertExplained(page: Page, heading: string, money: string): Promise<void> {
  await page.locator(".help:visible").waitFor();
  assertEquals((await page.locator("h1:visible").innerText()).replaceAll("\u00a0", " "), heading);
  assertEquals(await page.locator("main h2:visible").count(), 3);
  const text = await page.locator("main").innerText();
  assert(text.includes(money), text);
  assertMatch(await page.locator(".help:visible code").innerText(), UUID);
  await assertFits(page, heading);
  await assertAccessible(page, heading);
}

/** The address to which the bank redirects the browser after the one-time code, without opening it. */
async function returnAddress(page: Page): Promise<string> {
  const form: Record<string, string> = { code: "123456", decision: "confirm" };
  for (const name of ["csrf", "step"]) {
    form[name] = await page.locator(`#otp input[name="${name}"]`).inputValue();
  }
  const answer = await page.context().request.post(page.url(), { form, maxRedirects: 0 });
  assertEquals(answer.status(), 303);
  return answer.headers()["location"] ?? "";
}

async function openPage(browser: Browser, locale: string): Promise<Page> {
  const context = await browser.newContext({ locale, viewport: { width: 320, height: 740 } });
  return await context.newPage();
}

async function order(page: Page, shop: string): Promise<void> {
  await page.goto(shop);
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator('input[name="bank"][value="BANKA"]').check();
  await form.locator("button").click();
  await page.locator("#login").waitFor();
}

async function signIn(page: Page): Promise<void> {
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', "sandbox");
  await page.locator('#login button[value="continue"]').click();
  await page.locator("#otp, h1").first().waitFor();
}

async function enterCode(page: Page): Promise<void> {
  await page.fill('#otp input[name="code"]', "123456");
  await page.locator('#otp button[value="confirm"]').click();
  await page.locator("#consent").waitFor();
}

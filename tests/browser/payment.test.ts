/**
 * A customer pays in a real browser by clicking: shop, bank login, consent screen (the platform's or the bank's), back
 * at the shop with the payment's status; with and without scripts. No content security policy may block a resource.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { assertPaid, picture } from "./page_checks.ts";

const MAIN_ACCOUNT = "GB33BUKB20201555555555";

interface Case {
  readonly name: string;
  readonly bank: "BANKA" | "BANKB";
  readonly account: string;
  readonly consentScreen: boolean;
  readonly javaScriptEnabled: boolean;
}

const CASES: readonly Case[] = [
  { name: "platform", bank: "BANKA", account: "", consentScreen: true, javaScriptEnabled: true },
  { name: "bank", bank: "BANKB", account: "", consentScreen: true, javaScriptEnabled: false },
  { name: "implicit", bank: "BANKA", account: MAIN_ACCOUNT, consentScreen: false, javaScriptEnabled: false },
];

Deno.test({
  name: "a customer pays in Chromium, by each consent type, and can reject [AUT-01, F1]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    await using ecosystem = await openPooledSandbox();
    await using browser = await openChromium();
    const shop = String(ecosystem.endpoints["shop_url"]);
    for (const each of CASES) await t.step(`${each.name} consent`, () => pay(browser, shop, each));
    await t.step(
      "a double click on accept pays once and ends at the shop",
      () => doubleClick(browser, shop),
    );
    await t.step("rejected on the platform's screen", () => reject(browser, shop));
    await t.step("reload, back and a second tab end in one payment", () => wander(browser, shop));
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function pay(
  browser: Browser,
  shop: string,
  { name, bank, account, consentScreen, javaScriptEnabled }: Case,
): Promise<void> {
  const { page, blocked } = await openPage(browser, javaScriptEnabled);
  await toConsent(page, shop, bank, account);
  if (consentScreen) {
    await picture(page, `journey-${name}-consent`);
    await accept(page);
  }
  await page.waitForURL(/\/orders\//);
  await assertPaid(page);
  await picture(page, `journey-${name}-paid`);
  assertEquals(blocked, []);
  await page.context().close();
}

async function accept(page: Page): Promise<void> {
  await page.locator('#consent input[name="account"]:enabled').first().check();
  await page.locator('#consent button[value="accept"]').click();
}

async function doubleClick(browser: Browser, shop: string): Promise<void> {
  const { page, blocked } = await openPage(browser, true);
  await toConsent(page, shop, "BANKA", "");
  await page.locator('#consent input[name="account"]:enabled').first().check();
  await page.locator('#consent button[value="accept"]').dblclick();
  await page.locator("#payment-status").waitFor(); // the second click aborts the first navigation
  assertMatch(page.url(), /\/orders\//);
  await assertPaid(page);
  assertEquals(blocked, []);
  await page.context().close();
}

async function reject(browser: Browser, shop: string): Promise<void> {
  const { page, blocked } = await openPage(browser, false);
  await toConsent(page, shop, "BANKA", "");
  await page.locator('#consent button[value="refuse"]').click();
  await page.waitForURL(/\/orders\//);
  const text = await page.locator("main").innerText();
  assert(!/AcceptedSettlement/.test(text), text);
  await picture(page, "journey-refused");
  assertEquals(blocked, []);
  await page.context().close();
}

async function wander(browser: Browser, shop: string): Promise<void> {
  const { page, blocked } = await openPage(browser, true);
  await toConsent(page, shop, "BANKA", "");
  await page.locator("#consent").waitFor(); // a reload before it has loaded would be of the bank's page
  await page.reload();
  const secondTab = await page.context().newPage();
  await secondTab.goto(page.url());
  await accept(page);
  await page.waitForURL(/\/orders\//);
  await accept(secondTab);
  await secondTab.locator("main", { hasText: /Accepted|decided|already/ }).waitFor(); // no second decision is made
  await page.goBack();
  await page.goto(`${shop}/`);
  assertEquals(blocked, []);
  await page.context().close();
}

/** From the shop to the page after login and one-time code. */
async function toConsent(page: Page, shop: string, bank: string, account: string): Promise<void> {
  await page.goto(shop);
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator(`input[name="bank"][value="${bank}"]`).check();
  if (account !== "") {
    await form.locator("summary").click();
    await form.locator('input[name="account"]').fill(account);
  }
  await form.locator("button").click();
  await page.locator("#login").waitFor();
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', "sandbox");
  await page.locator('#login button[value="continue"]').click();
  await page.fill('#otp input[name="code"]', "123456");
  await page.locator('#otp button[value="confirm"]').click();
}

async function openPage(
  browser: Browser,
  javaScriptEnabled: boolean,
): Promise<{ page: Page; blocked: string[] }> {
  const context = await browser.newContext({
    javaScriptEnabled,
    viewport: { width: 360, height: 740 },
    locale: "en-GB",
  });
  const page = await context.newPage();
  const blocked: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) blocked.push(message.text());
  });
  return { page, blocked };
}

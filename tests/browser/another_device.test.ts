/**
 * A customer begins in one browser and confirms in another, without scripts: the bank's app on another device. The
 * browser that began goes on, at the bank's page and at the platform's.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { assertPaid, picture } from "./page_checks.ts";

const DESKTOP = { javaScriptEnabled: false, viewport: { width: 1440, height: 900 }, locale: "en-GB" };
const PHONE = { ...DESKTOP, viewport: { width: 390, height: 844 } };
const MAIN_ACCOUNT = "GB33BUKB20201555555555";

Deno.test({
  name:
    "a customer confirms in another browser, and the one that began goes on without scripts [ARS5] [ARS6] [G12]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    await using ecosystem = await openPooledSandbox();
    await using browser = await openChromium();
    const { shop_url, auth_url } = ecosystem.endpoints;
    await t.step("it waits at the bank's page", async () => {
      const { page, app } = await toApp(browser, String(shop_url));
      await confirmIn(browser, app);
      await goesOn(page);
    });
    await t.step("it waits at the platform's page, and no other browser goes on", async () => {
      const { page, app } = await toApp(browser, String(shop_url));
      const address = await waitingAddress(page.context(), String(auth_url));
      await page.goto(address);
      assertEquals(await page.locator("h1").innerText(), "Waiting for your bank");
      await picture(page, "waiting-platform");
      await elsewhere(browser, address);
      await confirmIn(browser, app);
      await goesOn(page);
    });
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

/** The customer signs in at the bank and chooses the app. */
async function toApp(browser: Browser, shop: string): Promise<{ readonly page: Page; readonly app: string }> {
  const page = await (await browser.newContext(DESKTOP)).newPage();
  await page.goto(shop);
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator('input[name="bank"][value="BANKA"]').check();
  await form.locator("summary").click();
  await form.locator('input[name="account"]').fill(MAIN_ACCOUNT);
  await form.locator("button").click();
  await page.locator('#login [name="username"]').fill("alice");
  await page.locator('#login [name="password"]').fill("sandbox");
  await page.locator('#login button[value="continue"]').click();
  await picture(page, "waiting-code");
  await page.locator('#otp button[value="app"]').click();
  const app = await page.locator("a#app").getAttribute("href");
  assertMatch(await page.locator("main").innerText(), /nothing is paid before/);
  await picture(page, "waiting-bank");
  return { page, app: app ?? "" };
}

async function confirmIn(browser: Browser, app: string): Promise<void> {
  const context = await browser.newContext(PHONE);
  const page = await context.newPage();
  await page.goto(app);
  await picture(page, "waiting-app");
  await page.locator('#otp [name="code"]').fill("123456");
  await page.locator('#otp button[value="confirm"]').click();
  assertEquals(await page.locator("h1").innerText(), "Go back to where you began");
  await context.close();
}

/**
 * The page that waits loads itself every 2 s, so the browser goes on within 3 s if its next load leads on. One more may be
 * under way when the result comes. Counted, because a busy machine is slow.
 */
async function goesOn(page: Page): Promise<void> {
  const waiting = page.url();
  let loads = 0;
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.url() === waiting) loads++;
  });
  await page.waitForURL(/\/orders\//);
  assert(loads <= 2, `${loads} loads of ${waiting}`);
  await paid(page);
}

async function paid(page: Page): Promise<void> {
  await page.waitForURL(/\/orders\//);
  await assertPaid(page);
  await page.context().close();
}

async function elsewhere(browser: Browser, address: string): Promise<void> {
  const context = await browser.newContext(DESKTOP);
  const page = await context.newPage();
  await page.goto(address);
  assertEquals(await page.locator("h1").innerText(), "Please continue in the browser you started in");
  await picture(page, "waiting-elsewhere");
  await context.close();
}

async function waitingAddress(context: BrowserContext, auth: string): Promise<string> {
  const cookie = (await context.cookies()).find(({ name }) => /^(__Host-)?sca-/.test(name));
  return `${auth}/BANKA/authorization.waiting.oauth2?flow=${cookie?.name.split("sca-")[1]}`;
}

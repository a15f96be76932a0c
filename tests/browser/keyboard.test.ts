/**
 * A customer pays with the keyboard only, without scripts, in Arabic, on a screen of 320 pixels: from the shop's menu
 * to the paid order, through each bank's consent screen. Every focused element is visible.
 */
/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { assertFits, assertPaid, blockedOn, picture } from "./page_checks.ts";

/** More stops than any page has: reaching it means a keyboard trap (WCAG 2.1.2). */
const MAX_STOPS = 40;

Deno.test({
  name: "a payment by keyboard alone, in Arabic, at 320 pixels, without scripts [WCAG 2.1.1] [WCAG 2.4.7]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    await using ecosystem = await openPooledSandbox();
    await using browser = await openChromium();
    const shop = ecosystem.endpoints.shop_url;
    await t.step("the platform's consent screen", () => pay(browser, shop, "BANKA"));
    await t.step("the bank's consent screen", () => pay(browser, shop, "BANKB"));
    await t.step("an account named at the shop, after a typing error", () => nameAccount(browser, shop));
    await t.step("a language chosen on the page stays", () => chooseSpanish(browser, shop));
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function pay(browser: Browser, shop: string, bank: string): Promise<void> {
  const page = await openPage(browser, "ar");
  const blocked = blockedOn(page);
  await page.goto(shop);
  await stopAt(page, 'form[action="/checkout"] input[name="bank"]');
  if (bank === "BANKB") await page.keyboard.press("ArrowDown");
  assertEquals(await page.locator(`form input[value="${bank}"]`).first().isChecked(), true);
  await stopAt(page, 'form[action="/checkout"] button');
  await press(page, "Enter", "#login");
  await stopAt(page, "#username");
  await page.keyboard.type("alice");
  await stopAt(page, "#password");
  await page.keyboard.type("sandbox");
  await press(page, "Enter", "#otp");
  await stopAt(page, "#code");
  await page.keyboard.type("123456");
  await stopAt(page, '#otp button[value="confirm"]');
  await press(page, "Space", "#consent");
  await assertArabic(page);
  await stopAt(page, '#consent input[name="account"]');
  await page.keyboard.press("Space");
  await stopAt(page, '#consent button[value="accept"]');
  await press(page, "Enter", "#payment-status");
  await assertArabic(page);
  await assertPaid(page);
  await picture(page, `keyboard-${bank}-paid`);
  await lookAgain(page);
  assertEquals(blocked, []);
  await page.context().close();
}

/** Without scripts the page does not claim to update itself. A link reloads it, and the messages are near. */
async function lookAgain(page: Page): Promise<void> {
  assertEquals(await page.locator("#live:visible").count(), 0);
  await page.evaluate("document.title = 'old'");
  await stopAt(page, "#again a");
  await page.keyboard.press("Enter");
  await page.locator('title:not(:text-is("old"))').waitFor({ state: "attached" });
  assertMatch(await page.locator("#payment-status").innerText(), /^Accepted/);
  await stopAt(page, 'main a[href$="/messages"]');
  await press(page, "Enter", "ol.messages");
  await stopAt(page, '.messages a[href$="/messages/3"]');
  await press(page, "Enter", 'a[rel="next"]');
  assertMatch(await page.locator("h1").innerText(), /^3\. Create the consent$/);
}

async function nameAccount(browser: Browser, shop: string): Promise<void> {
  const page = await openPage(browser, "ar");
  await page.goto(shop);
  await stopAt(page, 'form[action="/checkout"] summary');
  await page.keyboard.press("Enter");
  await stopAt(page, 'input[name="account"]');
  await page.keyboard.type("GB34BUKB20201555555555");
  await press(page, "Enter", "#fault");
  await assertArabic(page);
  assertEquals(await page.locator("*:focus").getAttribute("name"), "account");
  await assertVisibleFocus(page);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("GB33 BUKB 2020 1555 5555 55");
  await press(page, "Enter", "#login");
  await page.context().close();
}

async function chooseSpanish(browser: Browser, shop: string): Promise<void> {
  const page = await openPage(browser, "en-GB");
  await page.goto(shop);
  await stopAt(page, 'nav a[lang="es"]');
  await press(page, "Enter", 'html[lang="es"]');
  await page.locator("form button").first().click();
  await page.locator("#login").waitFor();
  assertEquals(await page.getAttribute("html", "lang"), "es"); // the bank is another site: the language was handed over
  await stopAt(page, 'nav a[lang="fr"]');
  await press(page, "Enter", 'html[lang="fr"] #login');
  await page.fill("#username", "alice");
  await page.fill("#password", "wrong");
  await page.locator("#login button").first().click();
  assertMatch(await page.locator("#login-complaint").innerText(), /Il reste 2 essais/);
  await page.locator('#login button[value="refuse"]').click();
  await page.waitForURL(/\/orders\//);
  assertEquals(await page.getAttribute("html", "lang"), "es");
  await page.context().close();
}

async function openPage(browser: Browser, locale: string): Promise<Page> {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 320, height: 568 },
    locale,
  });
  return await context.newPage();
}

/** Presses Tab until the element has the focus. Every focused element on the way must be visible. */
async function stopAt(page: Page, selector: string): Promise<void> {
  await page.waitForLoadState("load"); // with the style sheet
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    await page.keyboard.press("Tab");
    const at = page.locator("*:focus");
    if (await at.count() === 0) continue; // the browser's own controls, between the end and the beginning
    await assertVisibleFocus(page);
    if (await page.locator(`${selector}:focus`).count() > 0) return;
  }
  throw new Error(`Tab never reaches ${selector} on ${page.url()}`);
}

async function assertVisibleFocus(page: Page): Promise<void> {
  const [what, width, inView] = await page.locator("*:focus").evaluate((one) => {
    const marked = one.closest<HTMLElement>(".account") ?? one;
    const box = one.getBoundingClientRect();
    return [
      one.outerHTML.slice(0, 100),
      Number.parseFloat(getComputedStyle(marked).outlineWidth),
      box.top >= -1 && box.left >= -1 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1,
    ] as const;
  });
  assert(width >= 2, `no visible focus on ${what}`);
  assert(inView, `focus is out of sight on ${what}`);
}

async function press(page: Page, key: string, leadsTo: string): Promise<void> {
  await page.keyboard.press(key);
  await page.locator(leadsTo).first().waitFor({ state: "attached" });
}

async function assertArabic(page: Page): Promise<void> {
  assertEquals([await page.getAttribute("html", "lang"), await page.getAttribute("html", "dir")], [
    "ar",
    "rtl",
  ]);
  await assertFits(page, page.url());
}

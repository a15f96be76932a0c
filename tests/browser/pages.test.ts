/**
 * The platform's pages in a real browser, under the browser host's content security policy: accessible, readable on a
 * small phone, usable without scripts. Screenshots go to `.data/screenshots`.
 */
import { assertEquals } from "@std/assert";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { LANGUAGES } from "../../src/ui/language.ts";
import { isChromiumThere, openChromium } from "../support/chromium.ts";
import { docsPaths } from "../../src/ui/docs_page.tsx";
import { ERROR_PAGES, referenceDocument } from "../support/ui_samples.ts";
import { openUiSite, type UiSite } from "../support/ui_site.ts";
import { assertAccessible, assertContrast, assertFits, picture } from "./page_checks.ts";

/** CSS pixels: a small phone, or 1280 at 400% (WCAG 1.4.10), and a desk. */
const PHONE = { width: 320, height: 800 };
const DESK = { width: 1280, height: 800 };
const MIN_TARGET = 44;
/** Pixels that a column of text twice as large keeps: room for most words. */
const MIN_COLUMN = 170;

const CUSTOMER_PAGES = [
  "consent",
  "consent-none",
  "consent-longest",
  ...ERROR_PAGES.map((kind) => `error-${kind}`),
];
const DOCS = [...docsPaths(referenceDocument()), "/docs?q=signature", "/docs?q=nothing-like-it"];
/** The rest look alike: one of each kind is enough to look at. */
const PICTURED = new Set(["consent", "consent-none", "consent-longest", "error-link_unusable"]);

const ignore = !isChromiumThere();

for (const language of LANGUAGES) {
  browserTest(
    `Every customer page in ${language}: accessible, nothing cut off, all controls big enough`,
    async (world) => {
      const page = await openPage(world, { viewport: PHONE });
      for (const name of CUSTOMER_PAGES) {
        await page.goto(`${world.site.origin}/${name}?lang=${language}`);
        await assertInBothSchemes(page, `${name}-${language}`, PICTURED.has(name));
        await assertBigTargets(page, name);
        await assertLargeText(page, name); // WCAG 1.4.4
        if (name === "consent") await picture(page, `consent-${language}-large-text`);
        await assertWideSpacing(page, name); // WCAG 1.4.12
      }
    },
  );
}

browserTest("Every page of the documentation: accessible, nothing cut off", async (world) => {
  const page = await openPage(world, { viewport: PHONE });
  for (const path of DOCS) {
    await page.goto(`${world.site.origin}${path}`);
    await assertInBothSchemes(page, path.slice(1).replaceAll(/\W+/g, "-"), true);
  }
});

/** What does not depend on width and scheme is checked once. */
async function assertInBothSchemes(page: Page, what: string, pictured: boolean): Promise<void> {
  await assertFits(page, `${what} on a phone`);
  await assertAccessible(page, what);
  if (pictured) await picture(page, `${what}-light-320`);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${what}, dark`);
  if (pictured) await picture(page, `${what}-dark-320`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DESK);
  await assertFits(page, `${what} on a desk`);
  if (pictured) await picture(page, `${what}-light-1280`);
  await page.setViewportSize(PHONE);
}

async function assertBigTargets(page: Page, what: string): Promise<void> {
  const small = await page.evaluate(`[...document.querySelectorAll("a:not(.skip), button, .account")]
    .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
    .filter(({ box }) => box.width < ${MIN_TARGET} || box.height < ${MIN_TARGET}).map(({ text }) => text)`);
  assertEquals(small, [], what);
}

async function assertLargeText(page: Page, what: string): Promise<void> {
  await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
  await assertFits(page, `${what} at 200%`);
  const squeezed = await page.evaluate(
    `[...document.querySelectorAll("p:not(.product), .next li, dd, label")]
    .filter((one) => one.clientWidth > 0 && one.clientWidth < ${MIN_COLUMN}).map((one) => one.textContent)`,
  );
  assertEquals(squeezed, [], `${what} at 200%`);
}

async function assertWideSpacing(page: Page, what: string): Promise<void> {
  await page.evaluate(`document.documentElement.style.fontSize = "";
    for (const one of document.querySelectorAll("body *")) {
      one.style.lineHeight = "1.5";
      one.style.letterSpacing = "0.12em";
      one.style.wordSpacing = "0.16em";
    }`);
  await assertFits(page, `${what} spaced`);
}

for (const preference of [{ contrast: "more" }, { forcedColors: "active" }] as const) {
  browserTest(`The consent page with ${JSON.stringify(preference)} is accessible`, async (world) => {
    const page = await openPage(world, { ...preference, viewport: { width: 390, height: 800 } });
    await page.goto(`${world.site.origin}/consent?lang=en`);
    await page.check("#account-0");
    await assertAccessible(page, JSON.stringify(preference));
    await picture(page, `consent-en-${Object.keys(preference).join("")}`);
  });
}

browserTest("The consent form works without scripts: an account must be chosen to accept", async (world) => {
  const page = await openPage(world, { javaScriptEnabled: false });
  await page.goto(`${world.site.origin}/consent?lang=es`);
  await page.click("button.accept");
  assertEquals(world.site.posted, []); // the browser asks for an account first
  await page.click("label[for=account-1]");
  await page.click("button.accept");
  await page.waitForURL("**/BANKA/consent");
  assertEquals(world.site.posted, [{ csrf: "csrf-token-of-this-flow", account: "1", decision: "accept" }]);
});

browserTest("The consent form can be refused by keyboard alone, without an account", async (world) => {
  const page = await openPage(world, {});
  await page.goto(`${world.site.origin}/consent?lang=en`);
  await page.keyboard.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.className"), "skip");
  await page.keyboard.press("Enter");
  assertEquals(await page.evaluate("document.activeElement.id"), "main");
  const visited = [];
  for (let step = 0; step < 3; step++) {
    await page.keyboard.press("Tab");
    visited.push(await page.evaluate("document.activeElement.id || document.activeElement.className"));
  }
  assertEquals(visited, ["account-0", "accept", "refuse"]); // accounts that cannot pay are passed over
  await page.keyboard.press("Enter");
  await page.waitForURL("**/BANKA/consent");
  assertEquals(world.site.posted, [{ csrf: "csrf-token-of-this-flow", decision: "refuse" }]);
});

interface World {
  readonly browser: Browser;
  readonly site: UiSite;
  /** What browsers complained about: blocked by the policy, not found, failed. */
  readonly complaints: string[];
}

function browserTest(name: string, check: (world: World) => Promise<void>): void {
  // The browser's pipes and timers end after the test that closed it.
  Deno.test({ name, ignore, sanitizeOps: false, sanitizeResources: false }, async () => {
    const site = openUiSite();
    const browser = await openChromium();
    const complaints: string[] = [];
    try {
      await check({ browser, site, complaints });
    } finally {
      await browser.close();
      await site.stop();
    }
    assertEquals(complaints, []);
  });
}

async function openPage({ browser, complaints }: World, options: BrowserContextOptions): Promise<Page> {
  // A colour in transition is none of either scheme.
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("console", (message) => complaints.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${why}`); // left before its icon came
  });
  return page;
}

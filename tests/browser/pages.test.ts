/**
 * The platform's pages in a real browser, under the browser host's content security policy: accessible, readable on a
 * small phone, usable without scripts. Screenshots go to `.data/screenshots`.
 */
import axe from "axe-core";
import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { LANGUAGES } from "../../src/ui/language.ts";
import { isChromiumThere, openChromium } from "../support/chromium.ts";
import { ERROR_PAGES } from "../support/ui_samples.ts";
import { openUiSite, type UiSite } from "../support/ui_site.ts";

const SCREENSHOTS = new URL("../../.data/screenshots/", import.meta.url);
/** CSS pixels: a small phone, or 1280 at 400% (WCAG 1.4.10), and a desk. */
const WIDTHS = [320, 1280] as const;
const SCHEMES = ["light", "dark"] as const;
const MIN_TARGET = 44;
/** Pixels that a column of text twice as large keeps: room for most words. */
const MIN_COLUMN = 170;

const CUSTOMER_PAGES = LANGUAGES.flatMap((language) =>
  ["consent", "consent-none", "consent-longest", ...ERROR_PAGES.map((kind) => `error-${kind}`)].map((
    name,
  ) => ({
    language,
    name,
  }))
);
const PAGES = [...CUSTOMER_PAGES, { language: "en", name: "docs" }];
/** The rest look alike: one of each kind is enough to look at. */
const PICTURED = new Set(["consent", "consent-none", "consent-longest", "error-link_unusable", "docs"]);

const ignore = !isChromiumThere();

for (const colorScheme of SCHEMES) {
  for (const width of WIDTHS) {
    browserTest(
      `Every page, ${colorScheme}, ${width} px wide: accessible, nothing cut off`,
      async (world) => {
        const page = await openPage(world, { colorScheme, viewport: { width, height: 800 } });
        for (const { language, name } of PAGES) {
          await page.goto(`${world.site.origin}/${name}?lang=${language}`);
          await assertAccessible(page, `${name} ${language}`);
          await assertFits(page, `${name} ${language}`);
          if (PICTURED.has(name)) await picture(page, `${name}-${language}-${colorScheme}-${width}`);
        }
      },
    );
  }
}

browserTest("Every customer page keeps its content with text at 200% [WCAG 1.4.4]", async (world) => {
  const page = await openPage(world, { viewport: { width: 320, height: 800 } });
  for (const { language, name } of CUSTOMER_PAGES) {
    await page.goto(`${world.site.origin}/${name}?lang=${language}`);
    await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
    await assertFits(page, `${name} ${language} at 200%`);
    const squeezed = await page.evaluate(
      `[...document.querySelectorAll("p:not(.product), .next li, dd, label")]
      .filter((one) => one.clientWidth > 0 && one.clientWidth < ${MIN_COLUMN}).map((one) => one.textContent)`,
    );
    assertEquals(squeezed, [], `${name} ${language} at 200%`);
    if (name === "consent") await picture(page, `consent-${language}-large-text`);
  }
});

browserTest("Every customer page keeps its content with wide text spacing [WCAG 1.4.12]", async (world) => {
  const page = await openPage(world, { viewport: { width: 320, height: 800 } });
  for (const { language, name } of CUSTOMER_PAGES) {
    await page.goto(`${world.site.origin}/${name}?lang=${language}`);
    await page.evaluate(`for (const one of document.querySelectorAll("body *")) {
      one.style.lineHeight = "1.5";
      one.style.letterSpacing = "0.12em";
      one.style.wordSpacing = "0.16em";
    }`);
    await assertFits(page, `${name} ${language} spaced`);
  }
});

browserTest("Every control of a customer page is at least 44 pixels in size", async (world) => {
  const page = await openPage(world, { viewport: { width: 320, height: 800 } });
  for (const { language, name } of CUSTOMER_PAGES) {
    await page.goto(`${world.site.origin}/${name}?lang=${language}`);
    const small = await page.evaluate(`[...document.querySelectorAll("a:not(.skip), button, .account")]
      .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
      .filter(({ box }) => box.width < ${MIN_TARGET} || box.height < ${MIN_TARGET}).map(({ text }) => text)`);
    assertEquals(small, [], `${name} ${language}`);
  }
});

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
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => complaints.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${why}`); // left before its icon came
  });
  return page;
}

async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    `axe.run({ rules: { "target-size": { enabled: true } } }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`,
  );
  assertEquals(found, [], what);
}

async function assertFits(page: Page, what: string): Promise<void> {
  const outside = await page.evaluate(`[...document.querySelectorAll("body *")]
    .filter((one) => !one.closest(".visually-hidden, .skip, pre, .scroll"))
    .filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
    .map((one) => one.outerHTML.slice(0, 120))`);
  assertEquals(outside, [], what);
  assert(
    await page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
    `${what} scrolls sideways`,
  );
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: new URL(`${name}.png`, SCREENSHOTS).pathname, fullPage: true });
}

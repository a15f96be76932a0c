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
const WIDTHS = [320, 1280] as const;
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
const DOCS = [
  ...docsPaths(referenceDocument()),
  "/docs?q=signature",
  "/docs?q=nothing-like-it",
].map((path) => path.slice(1));
/** The rest look alike: one of each kind is enough to look at. */
const PICTURED = new Set(["consent", "consent-none", "consent-longest", "error-link_unusable", ...DOCS]);

const ignore = !isChromiumThere();

for (const width of WIDTHS) {
  browserTest(`Every customer page, ${width} px wide: accessible, nothing cut off`, async (world) => {
    const page = await openPage(world, { viewport: { width, height: 800 } });
    for (const { language, name } of CUSTOMER_PAGES) {
      await page.goto(`${world.site.origin}/${name}?lang=${language}`);
      await assertInBothSchemes(page, `${name} ${language}`, `${name}-${language}`, width);
    }
  });

  browserTest(
    `Every page of the documentation, ${width} px wide: accessible, nothing cut off`,
    async (world) => {
      const page = await openPage(world, { viewport: { width, height: 800 } });
      for (const name of DOCS) {
        await page.goto(`${world.site.origin}/${name}`);
        await assertInBothSchemes(page, name, name.replaceAll(/\W+/g, "-"), width);
      }
    },
  );
}

/** What does not depend on width and scheme is checked once. */
async function assertInBothSchemes(page: Page, what: string, file: string, width: number): Promise<void> {
  await assertFits(page, `${what} ${width}`);
  const pictured = PICTURED.has(file.replace(/-(en|es|fr|ar)$/, "")) || what.startsWith("docs");
  if (pictured) await picture(page, `${file}-light-${width}`);
  if (width !== WIDTHS[0]) return;
  await assertAccessible(page, what);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${what}, dark`);
  if (pictured) await picture(page, `${file}-dark-${width}`);
  await page.emulateMedia({ colorScheme: "light" });
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

/**
 * Every page of the sandbox's banks and shop in every state, as their own code serves it: accessible in both directions
 * of writing and both colour schemes, in every language readable on a small phone and with large or spaced text, small,
 * and without external resources. With `SCREENSHOTS=1`, screenshots go to
 * `.data/screenshots`.
 */
/// <reference lib="dom" />
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { LANGUAGES } from "../../src/pages/language.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { STATUSES } from "support/sandbox_shop_pages.ts";
import { openSandboxSite, type SandboxSite } from "support/sandbox_site.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  assertLargeText,
  assertWideSpacing,
  blockedOn,
  keepHome,
  picture,
} from "./page_checks.ts";
import { assertServedSafely } from "./served_page.ts";

/** CSS pixels: a small phone, or 1280 at 400% (WCAG 1.4.10), and a desktop. */
const PHONE = { width: 320, height: 740 };
const DESK = { width: 1280, height: 800 };
/** Pages for developers are in English only. */
const ENGLISH = /^shop-message/;
/** One language of each direction: the others have other words on the same elements in the same colours. */
const LOOKED_AT: ReadonlySet<string> = new Set(["en", "ar"]);
/** Deno requires these options for steps that run at the same time. Each step has its own browser context. */
const SIDE_BY_SIDE = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };
/** One page of each kind, for checks that take only some screenshots. */
const PICTURED = /consent$|goods|Pending|home-a|messages$|message$/;

Deno.test({
  name:
    "every page of bank and shop, in every state, direction of writing and colour scheme, is for everyone [WCAG 2.2 AA]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    const site = await openSandboxSite();
    const browser = await openChromium();
    const step = (name: string, check: (at: Look) => Promise<void>): Promise<boolean> =>
      t.step({ name, fn: () => look(browser, site, check), ...SIDE_BY_SIDE });
    try {
      await Promise.all(
        LANGUAGES.map((language) =>
          step(`accessible and nothing cut off in ${language}`, (at) => everyPage(at, language))
        ),
      );
      await step("what was entered wrongly is where the customer goes on", corrections);
    } finally {
      await browser.close();
      await site.stop();
    }
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

Deno.test("every page of bank and shop, in every language, is small, strict and has nothing from elsewhere", async () => {
  const site = await openSandboxSite();
  try {
    const all = LANGUAGES.flatMap((language) => site.pages.map((name) => ({ language, name })));
    await Promise.all(all.map(async ({ language, name }) => {
      const html = await assertServedSafely(`${site.origin}/${name}?lang=${language}`);
      const status = STATUSES.find((one) => name === `shop-${one}`);
      if (status !== undefined) {
        assertStringIncludes(html, `id="payment-status" lang="en" dir="ltr">${status}<`);
      }
    }));
  } finally {
    await site.stop();
  }
});

interface Look {
  readonly site: SandboxSite;
  readonly page: Page;
}

async function everyPage({ site, page }: Look, language: string): Promise<void> {
  for (const name of site.pages.filter((name) => language === "en" || !ENGLISH.test(name))) {
    const at = { page, name, what: `${name} in ${language}` };
    await page.goto(`${site.origin}/${name}?lang=${language}`);
    await assertLanguage(page, language, at.what);
    if (LOOKED_AT.has(language)) await assertInBothSchemes(at, language);
    else await assertFits(page, at.what);
    if (language === "en") await assertForcedColours(at);
    if (language === "fr") await assertFitsDesk(at);
    await assertBigTargets(page, at.what);
    await assertLargeText(page, at.what); // WCAG 1.4.4
    await assertWholeAmounts(at, language);
    if (language === "en" && PICTURED.test(name)) await picture(page, `sandbox-${name}-large-text`);
    await assertWideSpacing(page, at.what); // WCAG 1.4.12
  }
}

interface At {
  readonly page: Page;
  readonly name: string;
  readonly what: string;
}

async function assertForcedColours({ page, name, what }: At): Promise<void> {
  await page.emulateMedia({ forcedColors: "active", contrast: "more" });
  await assertContrast(page, `${what}, forced colours`);
  const unmarked = await page.evaluate(() =>
    [...document.querySelectorAll("button, .button, input:not([type=hidden], [type=radio])")]
      .filter((one) => one.checkVisibility() && getComputedStyle(one).borderTopStyle === "none")
      .map((one) => one.outerHTML)
  );
  assertEquals(unmarked, [], `${what}: controls without an edge`);
  if (PICTURED.test(name)) await picture(page, `sandbox-${name}-forced`);
  await page.emulateMedia({ forcedColors: "none", contrast: "no-preference" });
}

async function assertFitsDesk({ page, name, what }: At): Promise<void> {
  await page.setViewportSize(DESK);
  await assertFits(page, `${what} on a desk`);
  if (PICTURED.test(name)) await picture(page, `sandbox-${name}-desk`);
  await page.setViewportSize(PHONE);
}

/** A wrapped amount could be read as another one. In Arabic its currency is a word, which may wrap to the next line. */
async function assertWholeAmounts({ page, what }: At, language: string): Promise<void> {
  if (language === "ar") return;
  const broken = await page.evaluate(() =>
    [...document.querySelectorAll(".amount bdi, .price bdi")]
      .filter((one) => one.getClientRects().length > 1).map((one) => one.textContent)
  );
  assertEquals(broken, [], `${what} at 200%`);
}

async function corrections({ site, page }: Look): Promise<void> {
  const focused = async (name: string): Promise<readonly unknown[]> => {
    await page.goto(`${site.origin}/${name}?lang=en`);
    assert((await page.title()).startsWith("Error: "), name);
    return await page.locator("*:focus").evaluate((one) => [
      one.id,
      one.getAttribute("aria-invalid"),
      one.getBoundingClientRect().bottom <= innerHeight,
      one.getAttribute("aria-describedby")?.split(" ").filter((id) => document.getElementById(id) === null),
    ]);
  };
  assertEquals(await focused("bank-login-wrong"), ["password", "true", true, []]);
  assertEquals(await page.inputValue("#username"), "alice");
  assertEquals(await page.inputValue("#password"), "");
  assertEquals(await focused("bank-code-wrong"), ["code", "true", true, []]);
  assertEquals(await focused("shop-fault"), ["account-lunch", "true", true, []]);
  assertEquals(await page.inputValue("#account-lunch"), "GB00 NOT AN IBAN");
}

async function assertLanguage(page: Page, language: string, what: string): Promise<void> {
  const found = await page.evaluate((language) => {
    const { lang, dir } = document.documentElement;
    const [headings, links] = ["h1", `nav a[lang="${language}"]`].map((one) =>
      document.querySelectorAll(one).length
    );
    return [lang, dir, headings, links];
  }, language);
  assertEquals(found, [language, language === "ar" ? "rtl" : "ltr", 1, ENGLISH.test(what) ? 0 : 1], what);
}

async function assertInBothSchemes({ page, name, what }: At, language: string): Promise<void> {
  await assertFits(page, what);
  await assertAccessible(page, what);
  if (language === "en") await picture(page, `sandbox-${name}-en`);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${what}, dark`);
  if (language === "ar") await picture(page, `sandbox-${name}-ar-dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

/** One check with its own browser settings. The page must load no external resource, and the policy must block none. */
async function look(browser: Browser, site: SandboxSite, check: (at: Look) => Promise<void>): Promise<void> {
  // A colour in transition matches neither scheme.
  const context = await browser.newContext({ viewport: PHONE, reducedMotion: "reduce", locale: "en-GB" });
  const foreign = await keepHome(context);
  const page = await context.newPage();
  const blocked = blockedOn(page);
  await check({ site, page });
  assertEquals(blocked, []);
  assertEquals(foreign, []);
  await context.close();
}

/**
 * The platform's pages in a real browser, under the browser host's content security policy: accessible, readable on a
 * small phone, usable without scripts. With `SCREENSHOTS=1`, screenshots go to `.data/screenshots`.
 */
import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { LANGUAGES } from "../../src/pages/language.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { ERROR_PAGES } from "support/ui_samples.ts";
import { DOCS, openUiSite, type UiSite } from "support/ui_site.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  assertLargeText,
  assertWideSpacing,
  picture,
} from "./page_checks.ts";

/** CSS pixels: a small phone, or 1280 at 400% (WCAG 1.4.10), and a desk. */
const PHONE = { width: 320, height: 800 };
const DESK = { width: 1280, height: 800 };

/** One of each build. */
const BUILDS = ["consent", "consent-none", "consent-longest", "error-unavailable", "error-link_unusable"];
/** One language of each direction: the others have other words on the same elements in the same colours. */
const LOOKED_AT: ReadonlySet<string> = new Set(["en", "ar"]);
/** The same builds with other words: their contrast and their elements have been looked at. */
const WORDS = ERROR_PAGES.map((kind) => `error-${kind}`).filter((name) => !BUILDS.includes(name));
/** The other pages of the documentation look like one of these. */
const PICTURED_DOCS = new Set([
  "/docs",
  "/docs/tpp",
  "/docs/errors",
  "/docs/reference/consents",
  "/docs?q=signature",
]);
/** Documents are drawn alike. These have every kind of part. */
const DOCUMENTS = ["/docs/tpp", "/docs/contract/lists"];
const LOOKED_AT_DOCS = [
  ...DOCUMENTS,
  ...DOCS.paths.filter((path) => DOCS.text(`${path}.md`) === undefined),
  "/docs?q=signature",
  "/docs?q=nothing-like-it",
];

Deno.test({
  name: "the platform's pages in a real browser [WCAG 2.2 AA] [AZ12] [AZ13]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    const site = openUiSite();
    const browser = await openChromium();
    const step = (name: string, check: (env: Environment) => Promise<void>): Promise<boolean> =>
      t.step(name, async () => {
        const complaints: string[] = [];
        await check({ browser, site, complaints });
        assertEquals(complaints, []);
      });
    try {
      for (const language of LANGUAGES) {
        await step(`every customer page in ${language}`, (env) => customerPages(env, language));
      }
      await step("every page of the documentation: accessible, nothing cut off", documentation);
      await step("code is copied, errors are filtered, and the error of an address is open", portalScript);
      await step("the portal is read without its script", portalWithoutScript);
      for (const preference of [{ contrast: "more" }, { forcedColors: "active" }] as const) {
        const name = JSON.stringify(preference);
        await step(`the consent page with ${name} is accessible`, (env) => withPreference(env, preference));
      }
      for (const language of LANGUAGES) {
        await step(
          `what is decided on is on one screen of a phone in ${language}`,
          (env) => oneScreen(env, language),
        );
      }
      await step("without scripts, an account must be chosen to accept", withoutScripts);
      await step("by keyboard alone the consent can be rejected without an account", byKeyboard);
    } finally {
      await browser.close();
      await site.stop();
    }
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

/** Accessible, no content cut off, all controls big enough. */
async function customerPages(env: Environment, language: string): Promise<void> {
  const page = await openPage(env, { viewport: PHONE });
  for (const name of [...BUILDS, ...WORDS]) {
    await page.goto(`${env.site.origin}/${name}?lang=${language}`);
    await unfold(page);
    if (BUILDS.includes(name) && LOOKED_AT.has(language)) {
      await assertInBothSchemes(page, `${name}-${language}`, true);
    } else await assertFits(page, `${name}-${language}`);
    if (name === "consent" && !LOOKED_AT.has(language)) await picture(page, `${name}-${language}-light-320`);
    await assertBigTargets(page, name);
    await assertLargeText(page, name); // WCAG 1.4.4
    if (name === "consent") await picture(page, `consent-${language}-large-text`);
    await assertWideSpacing(page, name); // WCAG 1.4.12
  }
  await page.context().close();
}

/** Folded content must pass as well. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate(`for (const one of document.querySelectorAll("details")) one.open = true`);
}

async function documentation(env: Environment): Promise<void> {
  const page = await openPage(env, { viewport: PHONE });
  for (const path of LOOKED_AT_DOCS) {
    await page.goto(`${env.site.origin}${path}`);
    await unfold(page);
    await assertInBothSchemes(page, path.slice(1).replaceAll(/\W+/g, "-"), PICTURED_DOCS.has(path));
    await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
    await assertFits(page, `${path} at 200%`);
  }
  await page.context().close();
}

async function portalScript(env: Environment): Promise<void> {
  const page = await openPage(env, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${env.site.origin}/docs/tpp#register-your-software`);
  const block = page.locator("figure", { hasText: '--data-binary "$REGISTRATION_JWT"' });
  await block.getByRole("button").click();
  await block.getByText("Copied").waitFor();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  assertEquals(copied, (await block.locator("code").textContent())?.trimEnd());
  await page.goto(`${env.site.origin}/docs/errors#dpop-replayed`);
  const open = page.locator("dl", { hasText: "Remedy" }).filter({ visible: true });
  assertEquals(await open.count(), 1);
  assertEquals(await page.locator("article:target h3").textContent(), "dpop.replayed");
  const entries = page.locator("article").filter({ visible: true });
  const all = await entries.count();
  await page.keyboard.press("/");
  await page.keyboard.type("400 Idempotency");
  const few = await entries.count();
  assert(few < all && few > 0 && all > 50, `${few} of ${all}`);
  for (const text of await entries.allTextContents()) {
    assert(/idempotency/i.test(text) && text.includes("400"), text);
  }
  await page.context().close();
}

async function portalWithoutScript(env: Environment): Promise<void> {
  const page = await openPage(env, { javaScriptEnabled: false });
  await page.goto(`${env.site.origin}/docs/errors#dpop-replayed`);
  assertEquals(await page.locator("dl", { hasText: "Remedy" }).filter({ visible: true }).count(), 1);
  await page.fill("#q", "idempotancy key"); // mistyped
  await page.getByRole("button", { name: "Search" }).click();
  await page.locator(".findings a").first().click();
  await page.waitForURL(/idempotency|lost-responses/);
  await page.context().close();
}

/** Checks that do not depend on width and colour scheme run once. */
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

async function withPreference(env: Environment, preference: BrowserContextOptions): Promise<void> {
  const page = await openPage(env, { ...preference, viewport: { width: 390, height: 800 } });
  await page.goto(`${env.site.origin}/consent?lang=en`);
  await page.check("#account-0");
  await assertAccessible(page, JSON.stringify(preference));
  await picture(page, `consent-en-${Object.keys(preference).join("")}`);
  await page.context().close();
}

/** Amount, payee, its account, an account to choose and both buttons, with details folded and without scrolling. */
async function oneScreen(env: Environment, language: string): Promise<void> {
  const page = await openPage(env, { viewport: { width: 390, height: 844 } });
  await page.goto(`${env.site.origin}/consent?lang=${language}`);
  const seen = {
    amount: ".amount dd",
    payee: ".payee dd",
    account: ".payment > .facts .number",
    from: ".account",
  };
  const bar = await page.locator(".decisions").boundingBox();
  if (bar === null) throw new Error("no buttons");
  assert(bar.y + bar.height <= 844, "the buttons are on the first screen");
  assertEquals(await page.locator(".decisions button").count(), 2);
  for (const [what, place] of Object.entries(seen)) {
    const box = await page.locator(place).first().boundingBox();
    assert(box !== null && box.y >= 0 && box.y + box.height <= bar.y, `${what} is above the buttons`);
  }
  await picture(page, `consent-one-screen-${language}`);
  await page.context().close();
}

async function withoutScripts(env: Environment): Promise<void> {
  const page = await openPage(env, { javaScriptEnabled: false });
  const before = env.site.posted.length;
  await page.goto(`${env.site.origin}/consent?lang=es`);
  await page.click("button.accept");
  assertEquals(env.site.posted.slice(before), []); // the browser asks for an account first
  await page.click("label[for=account-1]");
  await page.click("button.accept");
  await page.waitForURL("**/BANKA/consent");
  const posted = { csrf: "csrf-token-of-this-flow", account: "1", decision: "accept" };
  assertEquals(env.site.posted.slice(before), [posted]);
  await page.context().close();
}

async function byKeyboard(env: Environment): Promise<void> {
  const page = await openPage(env, {});
  const before = env.site.posted.length;
  await page.goto(`${env.site.origin}/consent?lang=en`);
  await page.keyboard.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.className"), "skip");
  await page.keyboard.press("Enter");
  assertEquals(await page.evaluate("document.activeElement.id"), "main");
  const visited = [];
  for (let stop = 0; stop < 4; stop++) {
    await page.keyboard.press("Tab");
    visited.push(
      await page.evaluate(
        `(({ id, className, localName }) => id || className || localName)(document.activeElement)`,
      ),
    );
  }
  assertEquals(visited, ["summary", "account-0", "accept", "refuse"]); // one stop for the choice; accounts that cannot pay are passed over
  await page.keyboard.press("Enter");
  await page.waitForURL("**/BANKA/consent");
  assertEquals(env.site.posted.slice(before), [{ csrf: "csrf-token-of-this-flow", decision: "refuse" }]);
  await page.context().close();
}

interface Environment {
  readonly browser: Browser;
  readonly site: UiSite;
  /** Errors that browsers reported: blocked by the policy, not found, failed. */
  readonly complaints: string[];
}

async function openPage({ browser, complaints }: Environment, options: BrowserContextOptions): Promise<Page> {
  // A colour in transition matches neither scheme.
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

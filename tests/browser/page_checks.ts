/** Checks that every page must pass in a real browser, and screenshots of it if `SCREENSHOTS=1` asks for them. */
import axe from "axe-core/axe.min.js" with { type: "text" };
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { BrowserContext, Page } from "playwright-core";

/** CSS pixels: WCAG 2.5.5. */
const MIN_TARGET = 44;
/** Minimum width in pixels of a column with text twice as large: enough for most words. */
const MIN_COLUMN = 150;
const SCREENSHOTS = new URL("../../.data/screenshots/", import.meta.url);
/** A screenshot takes as long as a page, and only people look at it. */
const IS_PICTURED = Deno.env.get("SCREENSHOTS") === "1";

const MAX_LOADS = 600;

/** Loads an order's page again until the bank has answered, and asserts that the payment is accepted. */
export async function assertPaid(page: Page): Promise<void> {
  const status = page.locator("#payment-status");
  for (let loads = 0; loads < MAX_LOADS && await status.innerText() === "Pending"; loads++) {
    await page.reload();
  }
  assertMatch(await status.innerText(), /^Accepted/);
}

/** Asserts no violation of axe's rules in the page's current colour scheme; leaves axe loaded. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  if (await page.evaluate(`typeof axe`) === "undefined") await page.evaluate(axe);
  await assertNoViolation(
    page,
    `{ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }`,
    what,
  );
}

/** Checks the rules that depend on colours, for a page that passed all rules in another colour scheme. */
export async function assertContrast(page: Page, what: string): Promise<void> {
  await assertNoViolation(page, `{ runOnly: ["color-contrast", "link-in-text-block"] }`, what);
}

async function assertNoViolation(page: Page, options: string, what: string): Promise<void> {
  const found = await page.evaluate(
    `axe.run(${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`,
  );
  assertEquals(found, [], what);
}

/** Asserts that no content is cut off and only boxes meant to scroll do so sideways. */
export async function assertFits(page: Page, what: string): Promise<void> {
  await page.waitForLoadState("load"); // before, its styles may be missing
  const outside = await page.evaluate(`[...document.querySelectorAll("body *")]
    .filter((one) => !one.closest(".visually-hidden, .hidden, .skip, pre, .scroll"))
    .filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
    .map((one) => one.outerHTML.slice(0, 120))`);
  assertEquals(outside, [], what);
  assert(
    await page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
    `${what} scrolls sideways`,
  );
}

/** Asserts that every touch target is big enough. */
export async function assertBigTargets(page: Page, what: string): Promise<void> {
  const small = await page.evaluate(
    `[...document.querySelectorAll("a:not(.skip), button, summary, .account, .choice, .field input")]
    .filter((one) => one.checkVisibility())
    .map((one) => ({ what: one.outerHTML.slice(0, 120), box: one.getBoundingClientRect() }))
    .filter(({ box }) => box.width < ${MIN_TARGET} || box.height < ${MIN_TARGET})
    .map(({ what, box }) => [what, box.width, box.height].join(" "))`,
  );
  assertEquals(small, [], what);
}

/**
 * Asserts that text twice as large is neither cut off nor squeezed into a column of single words (WCAG 1.4.4). The size
 * stays applied.
 */
export async function assertLargeText(page: Page, what: string): Promise<void> {
  await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
  await assertFits(page, `${what} at 200%`);
  const squeezed = await page.evaluate(
    `[...document.querySelectorAll("main :is(p, dd, label, .next li, li > span:not(.mark))")]
    .filter((one) => !one.closest(".hidden, .visually-hidden"))
    .filter((one) => one.clientWidth > 0 && one.clientWidth < ${MIN_COLUMN})
    .filter((one) => one.clientHeight > 1.5 * Number.parseFloat(getComputedStyle(one).lineHeight))
    .map((one) => one.outerHTML.slice(0, 120))`,
  );
  assertEquals(squeezed, [], `${what} at 200%`);
}

/** Asserts that no content is lost with the reader's own text spacing (WCAG 1.4.12). The spacing stays applied. */
export async function assertWideSpacing(page: Page, what: string): Promise<void> {
  await page.evaluate(`document.documentElement.style.fontSize = "";
  for (const one of document.querySelectorAll("body *")) {
    one.style.lineHeight = "1.5";
    one.style.letterSpacing = "0.12em";
    one.style.wordSpacing = "0.16em";
    if (one.localName === "p") one.style.marginBlockEnd = "2em";
  }`);
  await assertFits(page, `${what} spaced`);
  const clipped = await page.evaluate(`[...document.querySelectorAll("body *")]
    .filter((one) => !one.closest(".visually-hidden, .hidden, input") && getComputedStyle(one).overflowY !== "visible")
    .filter((one) => one.clientWidth > 1 && one.scrollHeight > one.clientHeight + 1).map((one) => one.outerHTML.slice(0, 120))`);
  assertEquals(clipped, [], `${what} spaced`);
}

/** Blocks requests to other hosts than this computer and returns their list, which must stay empty. */
export async function keepHome(context: BrowserContext): Promise<readonly string[]> {
  const foreign: string[] = [];
  await context.route(/^https?:\/\/(?!(localhost|127\.0\.0\.1)[:/])/, (route) => {
    foreign.push(route.request().url());
    return route.abort();
  });
  return foreign;
}

/** With `SCREENSHOTS=1`: a screenshot of the whole page in `.data/screenshots`. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!IS_PICTURED) return;
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: new URL(`${name}.png`, SCREENSHOTS).pathname, fullPage: true });
}

/** Resources that the page's own policy blocked. The list grows while the page is used; read it at the end. */
export function blockedOn(page: Page): readonly string[] {
  const blocked: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) blocked.push(message.text());
  });
  return blocked;
}

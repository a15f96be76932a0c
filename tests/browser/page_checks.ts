/** What every page must pass in a real browser, and the pictures taken of it. */
import axe from "axe-core";
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";

const SCREENSHOTS = new URL("../../.data/screenshots/", import.meta.url);

/** No violation of axe's rules, in the colour scheme that the page is in; leaves axe on the page. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  await assertNoViolation(page, `{ rules: { "target-size": { enabled: true } } }`, what);
}

/** The one part of it that depends on the colour scheme, for a page that passed the whole in another one. */
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

/** Nothing is cut off and nothing scrolls sideways, but boxes made for it. */
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

/** A picture of the whole page, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: new URL(`${name}.png`, SCREENSHOTS).pathname, fullPage: true });
}

/** What the page's own policy blocked, as it goes on; read it when all is done. */
export function blockedOn(page: Page): readonly string[] {
  const blocked: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) blocked.push(message.text());
  });
  return blocked;
}

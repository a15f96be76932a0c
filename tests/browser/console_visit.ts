/** An operator who works in the console with a real browser. */
import { assert } from "@std/assert";
import type { Page } from "playwright-core";
import { OPERATOR_TOKENS } from "testing/operators.ts";

/** Signs operator maria in, or the owner of another token, whose first page is another one. */
export async function signIn(
  page: Page,
  origin: string,
  token: string = OPERATOR_TOKENS.maria,
  first = "/console",
): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.locator("#token").fill(token);
  await page.locator("#token").press("Enter");
  await page.waitForURL(`${origin}${first}`);
}

/** Presses Tab until the element has the focus, which is visible at every stop. */
export async function stopAt(page: Page, selector: string): Promise<void> {
  for (let stop = 0; stop < 60; stop++) {
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(
      `(() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle + style.outlineWidth; })()`,
    );
    assert(
      outline !== "none0px" && !String(outline).startsWith("none"),
      `stop ${stop} before ${selector} shows no focus: ${await page.evaluate(
        "document.activeElement.outerHTML.slice(0,300)",
      )}`,
    );
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`the keyboard does not reach ${selector}`);
}

/** An operator who works in the console with a real browser. */
import type { Page } from "playwright-core";
import { OPERATOR_TOKENS } from "testing/operators.ts";

/** Signs operator maria in. */
export async function signIn(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.locator("#token").fill(OPERATOR_TOKENS.maria);
  await page.locator("#token").press("Enter");
  await page.waitForURL(`${origin}/console`);
}

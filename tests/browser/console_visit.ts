/** An operator who works in the console with a real browser. */
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

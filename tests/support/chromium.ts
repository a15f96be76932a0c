/** Debian's Chromium, driven by Playwright, for tests that need a real browser. Never downloads a browser. */
import type { Browser } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";
const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns whether Chromium is installed. Prints a warning if not, because tests are then skipped. */
export function isChromiumThere(): boolean {
  try {
    if (Deno.statSync(CHROMIUM).isFile) return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const words = `\n*** SKIPPED: nothing was checked in a real browser, ${CHROMIUM} is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

/** A separate browser; the caller closes it. */
export async function openChromium(): Promise<Browser> {
  // While loading, Playwright detects Windows by a file in /proc that Deno opens only with `--allow-all`. This switch
  // of its own tests skips that.
  Deno.env.set("__IS_WSL_TEST__", "1");
  const { chromium } = await import("playwright-core");
  return await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
}

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

/** Whether there is a browser. Says loudly where there is none, because tests are then skipped. */
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

/** A browser of its own; the caller closes it. */
export async function openChromium(): Promise<Browser> {
  // While it loads, Playwright looks for Windows in a part of /proc that Deno opens to `--allow-all` alone. Its own
  // tests' switch leaves that out.
  Deno.env.set("__IS_WSL_TEST__", "1");
  const { chromium } = await import("playwright-core");
  return await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
}

/**
 * Debian's Chromium, driven by Playwright, for tests that need a real browser. Never downloads a browser. The package
 * chromium-headless-shell has the same engine without the windows of a desktop browser: a page costs a third of the time.
 */
import type { Browser } from "playwright-core";
import { areInstalled } from "./installed.ts";

/** In order of preference. */
const CHROMIUM = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"] as const;
const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-software-rasterizer",
  "--in-process-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns whether Chromium is installed. Prints a warning if not, because tests are then skipped. */
export function isChromiumThere(): boolean {
  if (installed() !== undefined) return true;
  const words = `\n*** SKIPPED: nothing was checked in a real browser, ${CHROMIUM[1]} is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

function installed(): string | undefined {
  return CHROMIUM.find((path) => areInstalled(path));
}

/** A separate browser; the caller closes it. */
export async function openChromium(): Promise<Browser> {
  // While loading, Playwright detects Windows by a file in /proc that Deno opens only with every permission. This switch
  // of its own tests skips that.
  Deno.env.set("__IS_WSL_TEST__", "1");
  const { chromium } = await import("playwright-core");
  const executablePath = installed();
  if (executablePath === undefined) throw new Error(`${CHROMIUM[1]} is not installed`);
  return await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
}

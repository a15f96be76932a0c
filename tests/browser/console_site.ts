/** A console that a real browser visits, and the walks over its pages that are the same for every console. */
import { assertEquals } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { openChromium } from "testing/chromium.ts";
import { signIn } from "./console_visit.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  assertLargeText,
  blockedOn,
  picture,
} from "./page_checks.ts";

const PATIENCE_MS = 10_000;
/** The parts of a path that differ from run to run, or that a file name cannot have. */
const NOT_IN_NAMES = /(?:keys|proposals)\/[^/]+|[0-9a-f]{8}-[0-9a-f-]+|[^\w]+/g;

export interface Site extends AsyncDisposable {
  readonly browser: Browser;
  readonly origin: string;
}

/** The person who visits, and the person's pages. Screenshots have `name` in their names. */
export interface Visit {
  readonly name: string;
  readonly token: string;
  /** The page after signing in; default: `/console`. */
  readonly first?: string;
  readonly pages: readonly string[];
}

/** Serves `answer` on the loopback interface, and starts a browser. */
export async function openSite(answer: (request: Request) => Response | Promise<Response>): Promise<Site> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
  const browser = await openChromium();
  return {
    browser,
    origin: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server.shutdown();
    },
  };
}

/** A page of 320 by 800 CSS pixels, in the dark. It runs no scripts. */
export async function openPhone({ browser }: Site, locale = "ar"): Promise<Page> {
  const viewport = { width: 320, height: 800 };
  return patient(await browser.newPage({ viewport, javaScriptEnabled: false, colorScheme: "dark", locale }));
}

/** A page of 1280 by 800 CSS pixels. */
export async function openDesk({ browser }: Site, locale = "en", javaScriptEnabled = true): Promise<Page> {
  const viewport = { width: 1280, height: 800 };
  return patient(await browser.newPage({ viewport, javaScriptEnabled, locale, reducedMotion: "reduce" }));
}

function patient(page: Page): Page {
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** Visits each page on a phone in Arabic: no content is cut off, also of text twice as large, and every target is big enough. */
export async function walkOnPhone(site: Site, { name, token, first, pages }: Visit): Promise<void> {
  const page = await openPhone(site);
  const blocked = blockedOn(page);
  await signIn(page, site.origin, token, first);
  for (const path of pages) {
    await page.goto(`${site.origin}${path}`);
    await assertFits(page, path);
    await assertBigTargets(page, path);
    await picture(page, `${name}-phone-${pictureName(path)}`);
    await assertLargeText(page, path);
  }
  assertEquals(blocked, []);
}

/** Visits the sign-in page and each other page on a desk in English, with axe's rules in both colour schemes. */
export async function walkOnDesk(site: Site, { name, token, first, pages }: Visit): Promise<void> {
  const page = await openDesk(site);
  const blocked = blockedOn(page);
  await page.goto(`${site.origin}/console`);
  await assertAccessible(page, "sign-in");
  await picture(page, `${name}-desk-sign-in`);
  await signIn(page, site.origin, token, first);
  for (const path of pages) {
    await page.goto(`${site.origin}${path}`);
    await assertOnDesk(page, path);
    await picture(page, `${name}-desk-${pictureName(path)}`);
  }
  assertEquals(blocked, []);
}

/** Asserts that no content is cut off, and axe's rules in both colour schemes. */
export async function assertOnDesk(page: Page, path: string): Promise<void> {
  await assertFits(page, path);
  await assertAccessible(page, path);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${path} in the dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

function pictureName(path: string): string {
  return path.replace("/console", "").replaceAll(NOT_IN_NAMES, "-") || "first";
}

/**
 * Every page and state of shop, bank and platform as the running ecosystem serves them: in every language and both
 * colour schemes accessible, nothing cut off at 320 pixels, under 30 KB, nothing from elsewhere, nothing blocked.
 */
import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startEcosystem } from "../../src/sandbox/ecosystem.ts";
import { LANGUAGES } from "../../src/sandbox/page_language.ts";
import { isChromiumThere, openChromium } from "../support/chromium.ts";
import { freeFirstPort } from "../support/sandbox_process.ts";
import { assertAccessible, assertContrast, assertFits, blockedOn, picture } from "./page_checks.ts";

const MAX_PAGE_BYTES = 30_000;
/** The other languages look alike. */
const PICTURED: ReadonlySet<string> = new Set(["en", "ar"]);

/** Where the tour stands. */
interface Tour {
  readonly page: Page;
  readonly language: string;
  readonly shop: string;
  readonly banks: string;
  readonly auth: string;
  /** Each page's name and what was wrong with it. */
  readonly look: (name: string) => Promise<void>;
}

Deno.test({
  name:
    "every page of shop, bank and platform is accessible in every language and colour scheme [WCAG 2.2 AA]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    const dir = `${await Deno.makeTempDir()}/sandbox`;
    const ecosystem = await startEcosystem({ port: freeFirstPort(), dir, log: () => {} });
    const browser = await openChromium();
    const { shop_url, banks_url, auth_url } = ecosystem.endpoints;
    try {
      for (const language of LANGUAGES) {
        const addresses = { shop: shop_url, banks: banks_url, auth: auth_url };
        await t.step(language, () => tour(browser, language, addresses));
      }
    } finally {
      await browser.close();
      await ecosystem.stop();
      await Deno.remove(dir, { recursive: true });
    }
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function tour(
  browser: Browser,
  language: string,
  addresses: Pick<Tour, "shop" | "banks" | "auth">,
): Promise<void> {
  const context = await browser.newContext({
    locale: language,
    viewport: { width: 320, height: 740 },
    reducedMotion: "reduce", // a colour in transition is none of either scheme
  });
  const foreign = await keepHome(context);
  const page = await context.newPage();
  const blocked = blockedOn(page);
  const look = (name: string): Promise<void> => lookAt(page, language, name);
  const on: Tour = { page, language, ...addresses, look };
  await shopPages(on);
  await bankJourney(on);
  await platformJourney(on);
  await informationPages(on);
  assertEquals(blocked, []);
  assertEquals(foreign, []);
  await context.close();
}

/** Requests to anywhere but this computer, which there must be none of. */
async function keepHome(context: BrowserContext): Promise<readonly string[]> {
  const foreign: string[] = [];
  await context.route(/^https?:\/\/(?!localhost[:/])/, (route) => {
    foreign.push(route.request().url());
    return route.abort();
  });
  return foreign;
}

async function lookAt(page: Page, language: string, name: string): Promise<void> {
  const what = `${name} in ${language}`;
  assertEquals(await page.getAttribute("html", "lang"), language, what);
  assertEquals(await page.getAttribute("html", "dir"), language === "ar" ? "rtl" : "ltr", what);
  assert((await page.content()).length < MAX_PAGE_BYTES, `${what} is too long`);
  assertEquals(await page.locator(`nav a[lang="${language}"]`).count(), 1, `${what} has a language switch`);
  assertEquals(await page.locator("script, [style]").count(), 0, what);
  await assertFits(page, what);
  await assertAccessible(page, what);
  if (PICTURED.has(language)) await picture(page, `tour-${language}-${name}`);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${what}, dark`);
  if (language === "ar") await picture(page, `tour-${language}-${name}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

async function shopPages({ page, shop, look }: Tour): Promise<void> {
  await page.goto(shop);
  await look("shop-goods");
  await order(page, "BANKA", "GB00 NOT AN IBAN");
  await page.locator("#fault").waitFor();
  await look("shop-fault");
  await page.goto(`${shop}/callback?state=x&code=y`);
  await look("shop-stray");
  await page.goto(`${shop}/nowhere`);
  await look("shop-not-found");
}

async function bankJourney({ page, shop, look }: Tour): Promise<void> {
  await page.goto(shop);
  await order(page, "BANKB", "");
  await page.locator("#login").waitFor();
  await look("bank-login");
  await signIn(page, "wrong");
  await page.locator("#login-complaint").waitFor();
  await look("bank-login-wrong");
  await signIn(page, "sandbox");
  await page.locator("#otp").waitFor();
  await look("bank-code");
  await enterCode(page, "000000");
  await page.locator("#code-complaint").waitFor();
  await look("bank-code-wrong");
  await enterCode(page, "123456");
  await page.locator("#consent").waitFor();
  await look("bank-consent");
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/orders\//);
  await look("shop-paid");
}

async function platformJourney({ page, shop, banks, look }: Tour): Promise<void> {
  await page.goto(shop);
  await order(page, "BANKA", "");
  await page.locator("#login").waitFor();
  const visit = page.url();
  await signIn(page, "sandbox");
  await enterCode(page, "123456");
  await page.locator('#consent input[name="csrf"]').waitFor({ state: "attached" });
  await look("platform-consent");
  const consent = page.url();
  await page.locator('#consent button[value="refuse"]').click();
  await page.waitForURL(/\/orders\//);
  await look("shop-refused");
  await page.goto(consent);
  await look("platform-finished");
  await page.goto(visit);
  await page.waitForURL(`${banks}/**`);
  await look("bank-visit-over");
}

async function informationPages({ page, banks, auth, look }: Tour): Promise<void> {
  await page.goto(`${auth}/BANKA/authorization.oauth2`);
  await look("platform-link-unusable");
  await page.goto(`${auth}/NOSUCHBANK/authorization.oauth2?client_id=x&request_uri=y`);
  await look("platform-not-found");
  await page.goto(banks);
  await look("bank-list");
  await page.goto(`${banks}/BANKA`);
  await look("bank-home");
  await page.goto(`${banks}/BANKA/sca?oAuthUrl=x`);
  await look("bank-link");
  await page.goto(`${banks}/nowhere`);
  await look("bank-not-found");
}

async function order(page: Page, bank: string, account: string): Promise<void> {
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator(`input[name="bank"][value="${bank}"]`).check();
  await form.locator('input[name="account"]').fill(account);
  await form.locator("button").click();
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', password);
  await page.locator('#login button[value="continue"]').click();
}

async function enterCode(page: Page, code: string): Promise<void> {
  await page.fill('#otp input[name="code"]', code);
  await page.locator('#otp button[value="confirm"]').click();
}

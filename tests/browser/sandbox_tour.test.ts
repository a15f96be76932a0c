/**
 * The running ecosystem from page to page, in a language written from left to right and in one from right to left: the
 * pages of shop, bank and platform as a payment meets them are accessible, small and strict; the page of an order keeps
 * itself up to date; the developer pages tell the whole payment.
 */
/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import { type Ecosystem, startEcosystem } from "../../src/sandbox/ecosystem.ts";
import { isChromiumThere, openChromium } from "../support/chromium.ts";
import { freeFirstPort } from "../support/sandbox_process.ts";
import { assertAccessible, assertFits, blockedOn, keepHome, picture } from "./page_checks.ts";
import { assertSafe } from "./served_page.ts";

/** Where the tour stands. */
interface Tour {
  readonly page: Page;
  readonly language: string;
  readonly endpoints: Ecosystem["endpoints"];
  /** Each page's name and what was wrong with it. */
  readonly look: (name: string) => Promise<void>;
}

Deno.test({
  name: "a tour of the running sandbox: every page accessible, small and strict, the order's page alive",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    const dir = `${await Deno.makeTempDir()}/sandbox`;
    const { endpoints, stop } = await startEcosystem({ port: freeFirstPort(), dir, log: () => {} });
    const browser = await openChromium();
    const visit = (name: string, language: string, check: (at: Tour) => Promise<void>): Promise<boolean> =>
      t.step(name, () => tour(browser, { language, endpoints, check }));
    try {
      for (const language of ["en", "ar"]) {
        await visit(`by the bank's consent screen in ${language}`, language, bankJourney);
        await visit(`by the platform's consent screen in ${language}`, language, platformJourney);
        await visit(`pages outside a payment in ${language}`, language, informationPages);
      }
      await visit(
        "the order's page keeps itself up to date, and the messages tell it all",
        "fr",
        aliveToTheEnd,
      );
      await visit("a payment that the bank rejects", "es", rejected);
    } finally {
      await browser.close();
      await stop();
      await Deno.remove(dir, { recursive: true });
    }
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

interface Visit {
  readonly language: string;
  readonly endpoints: Ecosystem["endpoints"];
  readonly check: (at: Tour) => Promise<void>;
}

async function tour(browser: Browser, { language, endpoints, check }: Visit): Promise<void> {
  const context = await browser.newContext({
    locale: language,
    viewport: { width: 320, height: 740 },
    reducedMotion: "reduce", // a colour in transition is none of either scheme
  });
  const foreign = await keepHome(context);
  const served = keepPages(context);
  const page = await context.newPage();
  const blocked = blockedOn(page);
  await check({ page, language, endpoints, look: (name) => lookAt(page, language, name) });
  for (const one of await Promise.all(served)) assertSafe(one);
  assert(served.length > 0);
  assertEquals(blocked, []);
  assertEquals(foreign, []);
  await context.close();
}

/** Every page that comes, as it goes on. */
function keepPages(context: BrowserContext): Promise<Parameters<typeof assertSafe>[0]>[] {
  const served: Promise<Parameters<typeof assertSafe>[0]>[] = [];
  const keep = async (answer: Response): Promise<Parameters<typeof assertSafe>[0]> => ({
    address: answer.url(),
    html: await answer.text(),
    headers: new Headers(await answer.allHeaders()),
  });
  context.on("response", (answer) => {
    const isPage = answer.headers()["content-type"]?.startsWith("text/html") === true;
    if (isPage) served.push(keep(answer));
  });
  return served;
}

async function lookAt(page: Page, language: string, name: string): Promise<void> {
  const what = `${name} in ${language}`;
  assertEquals(await page.getAttribute("html", "lang"), language, what);
  assertEquals(await page.getAttribute("html", "dir"), language === "ar" ? "rtl" : "ltr", what);
  assertEquals(await page.locator(`nav a[lang="${language}"]`).count(), 1, `${what} has a language switch`);
  await assertFits(page, what);
  await assertAccessible(page, what);
  await picture(page, `tour-${language}-${name}`);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertAccessible(page, `${what}, dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

async function bankJourney({ page, endpoints, look }: Tour): Promise<void> {
  await page.goto(endpoints.shop_url);
  await look("shop-goods");
  await order(page, "BANKB");
  await page.locator("#login").waitFor();
  await look("bank-login");
  await signIn(page);
  await page.locator("#otp").waitFor();
  await look("bank-code");
  await enterCode(page);
  await page.locator("#consent").waitFor();
  await look("bank-consent");
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/orders\//);
  await look("shop-paid");
}

async function platformJourney({ page, endpoints, look }: Tour): Promise<void> {
  await page.goto(endpoints.shop_url);
  await order(page, "BANKA");
  await page.locator("#login").waitFor();
  const visit = page.url();
  await signIn(page);
  await enterCode(page);
  await page.locator('#consent input[name="csrf"]').waitFor({ state: "attached" });
  await look("platform-consent");
  const consent = page.url();
  await page.locator('#consent button[value="refuse"]').click();
  await page.waitForURL(/\/orders\//);
  await look("shop-refused");
  await page.goto(consent);
  await look("platform-finished");
  await page.goto(visit);
  await page.waitForURL(`${endpoints.banks_url}/**`);
  await look("bank-visit-over");
}

async function informationPages({ page, endpoints: { auth_url }, look }: Tour): Promise<void> {
  await page.goto(`${auth_url}/BANKA/authorization.oauth2`);
  await look("platform-link-unusable");
  await page.goto(`${auth_url}/NOSUCHBANK/authorization.oauth2?client_id=x&request_uri=y`);
  await look("platform-not-found");
}

/** Nobody touches the page: its status changes, a screen reader is told, and it is never loaded again. */
async function aliveToTheEnd({ page, endpoints }: Tour): Promise<void> {
  await page.goto(endpoints.shop_url);
  await order(page, "BANKB");
  await signIn(page);
  await enterCode(page);
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/orders\//);
  await page.locator("#live:visible").waitFor();
  const loadedAt = await page.evaluate(() => performance.timeOrigin);
  const region = await page.locator("#outcome[role=status]").elementHandle();
  const before = await region?.innerText();
  await page.locator('#payment-status:text-is("AcceptedCreditSettlementCompleted")').waitFor({
    timeout: 20_000,
  });
  for (const id of ["live", "again"]) await page.locator(`#${id}`).waitFor({ state: "hidden" });
  assertEquals(await page.evaluate(() => performance.timeOrigin), loadedAt);
  assertEquals(await region?.evaluate((one) => one.isConnected), true); // a region put anew would not be read out
  assert(await region?.innerText() !== before);
  assertEquals(await page.locator(".progress .done").count(), 3);
  await assertAccessible(page, "the order's page, brought up to date");
  await picture(page, "tour-shop-settled");
  await developerPages(page);
}

async function developerPages(page: Page): Promise<void> {
  await page.locator('a[href$="/messages"]').click();
  await page.locator("ol.messages").waitFor();
  assertEquals(await page.locator(".status.bad").count(), 0);
  const titles = await page.locator(".messages h2").allInnerTexts();
  assertEquals(titles.slice(0, 10).map((title) => title.replace(/^\d+\. /, "")), [
    "Find the bank’s authorization server",
    "Get a token for the shop itself",
    "Create the consent",
    "Fetch the platform’s keys",
    "Push the authorization request",
    "Send the customer to the platform",
    "The customer comes back with a code",
    "Exchange the code for a token",
    "Make the payment",
    "Read how the payment goes",
  ]);
  await picture(page, "tour-shop-messages");
  await page.locator('.messages a[href$="/messages/1"]').click();
  for (const title of titles) {
    await page.locator(`h1:text-is("${title}")`).waitFor();
    await assertFits(page, title);
    await assertAccessible(page, title);
    await picture(page, `tour-shop-message-${title.split(".")[0]}`);
    const next = page.locator('a[rel="next"]').first();
    if (title !== titles.at(-1)) await next.click();
    else assertEquals(await next.count(), 0);
  }
}

async function rejected({ page, endpoints }: Tour): Promise<void> {
  const armed = await fetch(`${endpoints.banks_url}/BANKB/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fault: "refuse", times: 1 }),
  });
  assertMatch(await armed.text(), /refuse/);
  await page.goto(endpoints.shop_url);
  await order(page, "BANKB");
  await signIn(page);
  await enterCode(page);
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/orders\//);
  await page.locator('#payment-status:text-is("Rejected")').waitFor();
  await assertAccessible(page, "a rejected payment");
  assertEquals(await page.locator("script").count(), 0);
}

async function order(page: Page, bank: string): Promise<void> {
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator(`input[name="bank"][value="${bank}"]`).check();
  await form.locator("button").click();
}

async function signIn(page: Page): Promise<void> {
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', "sandbox");
  await page.locator('#login button[value="continue"]').click();
}

async function enterCode(page: Page): Promise<void> {
  await page.fill('#otp input[name="code"]', "123456");
  await page.locator('#otp button[value="confirm"]').click();
}

/**
 * A customer approves a payment in a real browser and closes the page before it returns to the shop. The shop learns it by
 * push. While its receiver is away, the TPP learns it by polling.
 */
import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { grantClientToken } from "../../src/client/tpp/authorization.ts";
import { pollEvents } from "../../src/client/tpp/events.ts";
import { openFlow } from "../../src/client/tpp/payment_journey.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import type { Ecosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { sandboxClock } from "support/sandbox_clock.ts";
import { assertAccessible, assertFits, picture } from "./page_checks.ts";

const PUSHED_WITHIN_MS = 2000;
const HOUR_SECONDS = 3600;

Deno.test({
  name:
    "the shop of a customer who closes the browser learns the outcome by push, or later by polling [EVT11, EVT14]",
  ignore: !isChromiumThere(),
  fn: async (t) => {
    const network = openNetwork();
    const { outgoing } = network;
    await using ecosystem = await openPooledSandbox({ outgoing });
    const { dir } = ecosystem;
    await using browser = await openChromium();
    await t.step("by push within 2 s", () => learnsByPush(browser, ecosystem, network));
    network.isShopAway = true;
    await t.step("by polling after an hour away", () => learnsByPolling(browser, ecosystem, dir));
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

/** The platform's network. */
interface Network {
  readonly outgoing: typeof fetch;
  /** Resolves with the time of the first push that the shop has acknowledged. */
  readonly pushed: Promise<number>;
  isShopAway: boolean;
}

function openNetwork(): Network {
  const { promise: pushed, resolve } = Promise.withResolvers<number>();
  const network: Network = {
    pushed,
    isShopAway: false,
    outgoing: async (input, init) => {
      const isPush = new URL(input instanceof Request ? input.url : input).pathname === "/events";
      if (isPush && network.isShopAway) throw new TypeError("connection refused");
      const answer = await fetch(input, init);
      if (isPush && answer.status === 202) resolve(Date.now());
      return answer;
    },
  };
  return network;
}

async function learnsByPush(
  browser: Browser,
  { endpoints: { shop_url } }: Ecosystem,
  { pushed }: Network,
): Promise<void> {
  const { context, closedAt } = await approveAndClose(browser, shop_url);
  const tooLate = new Promise<number>((done) => Deno.unrefTimer(setTimeout(() => done(Infinity), 10_000)));
  const tookMs = await Promise.race([pushed, tooLate]) - closedAt;
  assert(tookMs <= PUSHED_WITHIN_MS, `the push took ${tookMs} ms`);
  const page = await openOrder(context, shop_url);
  assertEquals(await page.locator("h1").innerText(), "Approved, but not paid yet");
  assertEquals(await page.locator("#payment-status").innerText(), "Not paid");
  await assertAccessible(page, "an order whose customer has not returned");
  await assertFits(page, "an order whose customer has not returned");
  await picture(page, "journey-closed-approved");
  await page.goto(shop_url);
  await assertAccessible(page, "the menu with own orders");
  await picture(page, "journey-closed-orders");
  await context.close();
}

async function learnsByPolling(browser: Browser, ecosystem: Ecosystem, dir: string): Promise<void> {
  const { shop_url } = ecosystem.endpoints;
  const { context } = await approveAndClose(browser, shop_url);
  const clock = sandboxClock(ecosystem.endpoints);
  await clock.advance(HOUR_SECONDS);
  const page = await openOrder(context, shop_url);
  assertEquals(await page.locator("h1").innerText(), "Waiting for your bank"); // no push has arrived
  const consentId = await page.locator("dd.reference").nth(1).innerText();
  assertEquals((await polled(ecosystem, dir, consentId, clock.now))[0], "consent-authorised");
  await context.close();
}

/** The types of the consent's events, fetched by the shop's operator an hour later. */
async function polled(
  { endpoints }: Ecosystem,
  dir: string,
  consentId: string,
  now: () => number,
): Promise<readonly string[]> {
  const tpp = await openTpp({
    dir,
    name: "shop",
    endpoints,
    redirectUri: `${endpoints.shop_url}/callback`,
    now,
  });
  try {
    const flow = await openFlow(tpp, "BANKA");
    const { events } = await pollEvents(flow, await grantClientToken(flow), { returnImmediately: true });
    return events.filter((event) => event.consentId === consentId).map(({ type }) => type);
  } finally {
    tpp.close();
  }
}

/** Orders and approves, and closes the page when its browser is about to ask for the shop's redirect URL. */
async function approveAndClose(
  browser: Browser,
  shop: string,
): Promise<{ readonly context: BrowserContext; readonly closedAt: number }> {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(shop);
  await page.locator('form[action="/checkout"] button').first().click();
  await page.locator("#login").waitFor();
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', "sandbox");
  await page.locator('#login button[value="continue"]').click();
  await page.fill('#otp input[name="code"]', "123456");
  await page.locator('#otp button[value="confirm"]').click();
  await page.locator('#consent input[name="account"]:enabled').first().check();
  const returning = heldReturn(page, shop);
  await page.locator('#consent button[value="accept"]').click({ noWaitAfter: true });
  assert(/[?&]code=/.test(await returning));
  const closedAt = Date.now();
  await page.close();
  return { context, closedAt };
}

/** Resolves with the URL of the return, which is never sent. Playwright's own routes do not see redirects. */
async function heldReturn(page: Page, shop: string): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const held = new Promise<string>((resolve) =>
    session.on("Fetch.requestPaused", ({ request }) => resolve(request.url))
  );
  await session.send("Fetch.enable", { patterns: [{ urlPattern: `${shop}/callback*` }] });
  return await held;
}

/** The newest order of this browser, in a new tab. */
async function openOrder(context: BrowserContext, shop: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(shop);
  await page.locator("#orders a").first().click();
  await page.waitForURL(/\/orders\//);
  return page;
}

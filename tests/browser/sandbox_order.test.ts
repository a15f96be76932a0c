/**
 * An order's page that its customer keeps open: it updates itself until the payment is settled or rejected, and screen
 * readers announce the change. The developer pages then show the whole payment.
 */
/// <reference lib="dom" />
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { isChromiumThere } from "testing/chromium.ts";
import { assertAccessible, assertFits, picture } from "./page_checks.ts";
import { enterCode, order, sideBySide, signIn, type Tour } from "./sandbox_tour.ts";

Deno.test({
  name: "an order's page follows its payment by itself, and the messages tell it all [WCAG 4.1.3]",
  ignore: !isChromiumThere(),
  fn: (t) =>
    sideBySide(t, {
      "to the end of the settlement": { language: "fr", check: aliveToTheEnd },
      "to a rejection": { language: "es", check: rejected },
    }),
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

/** Without user action the status changes, a screen reader announces it, and the page is not reloaded. */
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
  const settled = page.locator('#payment-status:text-is("AcceptedCreditSettlementCompleted")');
  await settled.waitFor({ timeout: 120_000 }); // three steps of the bank, which a busy computer delays
  for (const id of ["live", "again"]) await page.locator(`#${id}`).waitFor({ state: "hidden" });
  assertEquals(await page.evaluate(() => performance.timeOrigin), loadedAt);
  assertEquals(await region?.evaluate((one) => one.isConnected), true); // a replaced live region would not be announced
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

/** Uses the bank that no other test here pays from. */
async function rejected({ page, endpoints }: Tour): Promise<void> {
  const armed = await fetch(`${endpoints.banks_url}/BANKA/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fault: "refuse", times: 1 }),
  });
  assertMatch(await armed.text(), /reject/);
  await page.goto(endpoints.shop_url);
  await order(page, "BANKA");
  await signIn(page);
  await enterCode(page);
  await page.locator('#consent input[name="account"]:enabled').first().check();
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/orders\//);
  await page.locator('#payment-status:text-is("Rejected")').waitFor();
  await assertAccessible(page, "a rejected payment");
  assertEquals(await page.locator("script").count(), 0);
}

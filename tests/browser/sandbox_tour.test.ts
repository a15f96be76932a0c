/**
 * The running ecosystem from page to page, in a left-to-right and a right-to-left language: all pages of shop, bank and
 * platform during a payment are accessible, small and have strict headers.
 */
import { isChromiumThere } from "testing/chromium.ts";
import { enterCode, order, sideBySide, signIn, type Tour } from "./sandbox_tour.ts";

Deno.test({
  name: "a tour of the running sandbox: every page accessible, small and strict [WCAG 2.2 AA]",
  ignore: !isChromiumThere(),
  fn: (t) =>
    sideBySide(t, {
      "by each consent screen, from left to right": { language: "en", check: everyStop },
      "by each consent screen, from right to left": { language: "ar", check: everyStop },
    }),
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function everyStop(at: Tour): Promise<void> {
  await bankJourney(at);
  await platformJourney(at);
  await informationPages(at);
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
  await page.context().clearCookies({ name: "bank_visit" }); // as another browser, which the bank cannot lead back
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

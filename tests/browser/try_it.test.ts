/** A developer walks a whole payment through the sandbox's pages that try each operation, in a real browser. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { readEdited } from "../../src/sandbox/developer/playground.ts";
import { createLink } from "../../src/sandbox/developer/playground_page.tsx";
import { isChromiumThere } from "testing/chromium.ts";
import { assertAccessible, assertContrast, assertFits, picture } from "./page_checks.ts";
import { enterCode, sideBySide, signIn, type Tour } from "./sandbox_tour.ts";

Deno.test({
  name: "a developer tries each step of a payment from the API reference, without scripts and typing [SB12]",
  ignore: !isChromiumThere(),
  fn: (t) => sideBySide(t, { "from the reference to a paid payment": { language: "en", check: walk } }),
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

async function walk({ page, endpoints }: Tour): Promise<void> {
  const reference = await (await fetch(`${endpoints.auth_url}/docs/reference/authorization`)).text();
  await page.goto(/class="try" href="([^"]+issueAccessToken)"/.exec(reference)?.[1] ?? "");
  await sent(page, "200", "Get an access token");
  await onward(page, "Create a consent");
  await sent(page, "201", "Create a consent");
  assertEquals(await page.locator(".steps .passed").count() > 5, true);
  await onward(page, "Push the authorization request");
  await sent(page, "201", "Push the authorization request");
  await page.getByRole("link", { name: "Open the link as the customer" }).click();
  await signIn(page);
  await enterCode(page);
  await page.locator('#consent input[name="account"]:enabled').first().check();
  await page.locator('#consent button[value="accept"]').click();
  await page.waitForURL(/\/developer\/try\/BANKA\/issueAccessToken/);
  assertStringIncludes(await page.inputValue("#body"), "code=$CODE");
  await sent(page, "200", "the code's token");
  await onward(page, "Make the payment");
  await rejectedFirst(page);
  await sent(page, "201", "Make the payment");
  await onward(page, "Read a payment");
  await sent(page, "200", "Read a payment");
  assertMatch(await shownAnswer(page), /"DomesticPaymentId": "[0-9a-f-]{36}"/);
  assertEquals(await page.locator("script").count(), 0);
  for (const { id } of LISTS) await everyOther(page, endpoints.shop_url, id);
  await page.goto(
    endpoints.shop_url + createLink(readEdited(new URLSearchParams({ amount: "77.00", text: "" }))),
  );
  assertStringIncludes(await page.inputValue("#body"), '"Amount": "77.00"');
  await sent(page, "201", "the playground's consent");
  await ownTpp(page, endpoints.shop_url);
}

/** The same pages sign for a TPP that the developer makes. */
async function ownTpp(page: Page, shopUrl: string): Promise<void> {
  await page.goto(`${shopUrl}/developer/try`);
  await page.locator("summary", { hasText: "Signs for shop" }).click();
  await page.fill("#name", "mine");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.locator("summary", { hasText: "Signs for mine" }).click();
  await assertFits(page, "the choice of a TPP");
  await assertAccessible(page, "the choice of a TPP");
  await picture(page, "try-choice");
  await page.getByRole("link", { name: "Get an access token" }).first().click();
  await sent(page, "200", "the own TPP's token");
}

/** What an answer rejects is beside the check that failed. The body goes out as it was typed. */
async function rejectedFirst(page: Page): Promise<void> {
  const body = await page.inputValue("#body");
  await page.fill("#body", body.replace('"Amount": "4.20"', '"Amount": "4.21"'));
  await sent(page, "400", "another amount than the consent's");
  assertStringIncludes(await page.locator("section .fault").innerText(), "Initiation");
  assertStringIncludes(await page.inputValue("#body"), "4.21");
  await page.fill("#body", body);
  await page.fill("#key", crypto.randomUUID());
}

const LISTS = [
  "getDomesticPaymentConsent",
  "listDomesticPaymentConsents",
  "findDomesticPayment",
  "createEventSubscription",
  "getEventSubscriptions",
  "pollEvents",
  "getDomesticPaymentReceipt",
].map((id) => ({ id }));

async function everyOther(page: Page, shopUrl: string, id: string): Promise<void> {
  await page.goto(`${shopUrl}/developer/try/BANKA/${id}`);
  await page.locator("button").click();
  await page.locator("#answer .status").waitFor();
  assertMatch(
    await page.locator("#answer .status").innerText(),
    /^20[01] /,
    `${id}: ${await shownAnswer(page)}`,
  );
}

function shownAnswer(page: Page): Promise<string> {
  return page.locator("#answer pre").first().innerText();
}

async function onward(page: Page, name: string): Promise<void> {
  await page.locator(".onward a", { hasText: name }).first().click();
  await page.locator(`h1:text-is("${name}")`).waitFor();
  assertEquals(await page.locator("#answer").count(), 0);
}

/** Sends the request as the form has it, and looks at the page of its answer. */
async function sent(page: Page, status: string, what: string): Promise<void> {
  await page.locator("button").click();
  await page.locator("#answer .status").waitFor();
  assert(
    (await page.locator("#answer .status").innerText()).startsWith(status),
    `${what}: ${await shownAnswer(page)}`,
  );
  assertEquals(/eyJ[\w-]{40}/.test(await page.content()), false, `${what} shows no token`);
  await assertFits(page, what);
  await assertAccessible(page, what);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${what}, dark`);
  await picture(page, `try-${what}`);
  await page.emulateMedia({ colorScheme: "light" });
}

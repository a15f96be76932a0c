/** The sandbox's playground in a real browser: an edited consent, and the screens that its customer would see. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { composeDeveloperPages } from "../../src/sandbox/developer/app.ts";
import { PLAYGROUND_PATH } from "../../src/sandbox/developer/frame.tsx";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import { authUrl, openTppEnvironment, shopAlone } from "support/sandbox_tpp_platform.ts";
import { assertAccessible, assertContrast, assertFits, blockedOn, keepHome, picture } from "./page_checks.ts";

Deno.test({
  name: "the playground shows the real consent screens of an edited consent, with and without scripts [SB13]",
  ignore: !isChromiumThere(),
  fn: async () => {
    const { tpp } = await openTppEnvironment();
    const port = freePort();
    const shopUrl = `http://localhost:${port}`;
    const pages = composeDeveloperPages({
      tpps: shopAlone(tpp),
      shopUrl,
      authUrl,
      banksUrl: authUrl,
      now: tpp.now,
    });
    const server = Deno.serve({ port, hostname: "127.0.0.1", onListen: () => {} }, pages.fetch);
    const browser = await openChromium();
    try {
      await typed(browser, shopUrl);
      await withoutScripts(browser, shopUrl);
    } finally {
      await browser.close();
      await server.shutdown();
      tpp.close();
    }
  },
  sanitizeResources: false, // Playwright keeps its pipes to a browser that has been closed
  sanitizeOps: false,
});

function freePort(): number {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  return listener.addr.port;
}

/** The screens, the JSON and the address follow what is typed. */
async function typed(browser: Browser, shopUrl: string): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    reducedMotion: "reduce",
  });
  const foreign = await keepHome(context);
  const page = await context.newPage();
  const blocked = blockedOn(page);
  await page.goto(`${shopUrl}${PLAYGROUND_PATH}`);
  await page.fill("#amount", "1234.50");
  await page.fill("#payee", "Bäckerei <Süd>");
  await page.selectOption("#lang", "ar");
  await page.locator('#json pre:has-text("1234.50"):has-text("<Süd>")').waitFor();
  for (const screen of ["platform", "bank"]) {
    for (const width of ["phone", "desk"]) {
      const shown = page.frameLocator(`.${width} iframe[data-screen$="/${screen}"]`);
      await shown.locator('html[lang="ar"][dir="rtl"] main:has-text("1,234.50"):has-text("Bäckerei <Süd>")')
        .waitFor();
    }
  }
  assertMatch(page.url(), /amount=1234\.50/);
  await page.fill("#account", "FR1420041010050500013M02607");
  await page.locator("#account-fault").waitFor();
  await looksGood(page);
  assertEquals([foreign, blocked], [[], []]);
  await context.close();
}

async function looksGood(page: Page): Promise<void> {
  await assertFits(page, "playground");
  await assertAccessible(page, "playground");
  await picture(page, "playground-390");
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, "playground, dark");
}

async function withoutScripts(browser: Browser, shopUrl: string): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${shopUrl}${PLAYGROUND_PATH}`);
  await page.fill("#reference", "INVOICE-1");
  await page.locator("button").click();
  assertStringIncludes(await page.locator("#json pre").innerText(), "INVOICE-1");
  const shown = page.frameLocator('.phone iframe[data-screen$="/bank"]');
  await shown.locator('main:has-text("INVOICE-1")').waitFor();
  const screen = await page.request.get(`${shopUrl}${PLAYGROUND_PATH}/platform?reference=INVOICE-1`);
  assertMatch(
    screen.headers()["content-security-policy"] ?? "",
    /form-action 'none'; frame-ancestors 'self'/,
  );
  assert((await screen.text()).includes("INVOICE-1"));
  await context.close();
}

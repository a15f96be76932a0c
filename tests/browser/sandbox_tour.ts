/** Steps through the running sandbox in a real browser: the checks of what is served, and the forms to fill. */
import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import type { Ecosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { openChromium } from "testing/chromium.ts";
import { blockedOn, keepHome } from "./page_checks.ts";
import { assertSafe, type ServedPage } from "./served_page.ts";

/** The current page of a tour and its checks. */
export interface Tour {
  readonly page: Page;
  readonly endpoints: Ecosystem["endpoints"];
}

/** One tour to make. */
export interface Visit {
  readonly language: string;
  readonly endpoints: Ecosystem["endpoints"];
  readonly check: (at: Tour) => Promise<void>;
}

/** Runs it in its own browser context and checks every page on the way. */
async function tour(browser: Browser, { language, endpoints, check }: Visit): Promise<void> {
  const context = await browser.newContext({
    locale: language,
    viewport: { width: 320, height: 740 },
    reducedMotion: "reduce", // a colour in transition matches neither scheme
  });
  const foreign = await keepHome(context);
  const served = keepPages(context);
  const page = await context.newPage();
  const blocked = blockedOn(page);
  await check({ page, endpoints });
  for (const one of await Promise.all(served)) assertSafe(one);
  assert(served.length > 0);
  assertEquals(blocked, []);
  assertEquals(foreign, []);
  await context.close();
}

/** Records every page that is served, while the tour goes on. */
function keepPages(context: BrowserContext): Promise<ServedPage>[] {
  const served: Promise<ServedPage>[] = [];
  const keep = async (answer: Response): Promise<ServedPage> => ({
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

/** Buys the first dish. */
export async function order(page: Page, bank: string): Promise<void> {
  const form = page.locator('form[action="/checkout"]').first();
  await form.locator(`input[name="bank"][value="${bank}"]`).check();
  await form.locator("button").click();
}

/** Signs in as Alice. */
export async function signIn(page: Page): Promise<void> {
  await page.fill('#login input[name="username"]', "alice");
  await page.fill('#login input[name="password"]', "sandbox");
  await page.locator('#login button[value="continue"]').click();
}

/** Enters the right one-time code. */
export async function enterCode(page: Page): Promise<void> {
  await page.fill('#otp input[name="code"]', "123456");
  await page.locator('#otp button[value="confirm"]').click();
}

/** Steps that run at the same time, by name, on one sandbox and one browser; each has its own browser context. */
export async function sideBySide(
  t: Deno.TestContext,
  visits: Readonly<Record<string, Pick<Visit, "language" | "check">>>,
): Promise<void> {
  await using sandbox = await openPooledSandbox();
  const { endpoints } = sandbox;
  await using browser = await openChromium();
  await Promise.all(
    Object.entries(visits).map(([name, visit]) =>
      t.step({
        name,
        fn: () => tour(browser, { ...visit, endpoints }),
        sanitizeOps: false,
        sanitizeResources: false,
        sanitizeExit: false,
      })
    ),
  );
}

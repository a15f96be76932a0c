/**
 * Every page of the operators' console in a real browser: accessible, readable on a small phone, usable by keyboard and
 * without scripts. With `SCREENSHOTS=1`, screenshots go to `.data/screenshots`.
 */
/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { OPERATION_ROLES } from "../../src/platform/security/operator_roles.ts";
import type { Environment } from "testing/environment.ts";
import { isChromiumThere, openChromium } from "support/chromium.ts";
import { later, openPushEnvironment, paid } from "support/orders.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  blockedOn,
  picture,
} from "./page_checks.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { signIn, stopAt } from "./console_visit.ts";

/** CSS pixels. */
const PHONE = { width: 320, height: 800 };
const DESK = { width: 1280, height: 800 };
const REASON = "The bank's desk has asked for it.";

interface Site {
  readonly browser: Browser;
  readonly origin: string;
  readonly pages: readonly string[];
}

Deno.test({
  name:
    "every page of the console is for everyone, also by keyboard and without scripts [WCAG 2.2 AA] [OP13, OWN1]",
  ignore: !isChromiumThere(),
  fn: async () => {
    await using env = await openPushEnvironment(() => new Response("The desk is closed.", { status: 503 }), {
      operators: await testPeople(),
      environment: { FOUR_EYES: "revoke-tokens" },
    });
    const pages = await busyConsole(env);
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => env.platform.operations.fetch(request),
    );
    const browser = await openChromium();
    try {
      const site = { browser, origin: `http://127.0.0.1:${server.addr.port}`, pages };
      await onPhone(site);
      await onDesk(site);
      for (const orgId of ["BANKA", env.tpp.orgId]) await asParticipant(site, orgId);
    } finally {
      await browser.close();
      await server.shutdown();
    }
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

/** Makes something to show, and returns the paths of every page. */
async function busyConsole(env: Environment & { readonly pushes: unknown[] }): Promise<readonly string[]> {
  const { DomesticPaymentId: id } = await paid(env as never);
  for (let hour = 0; hour < 12; hour++) await later(env as never, 3_600_000);
  await env.platform.growLog();
  const change = async (path: string, data: object): Promise<{ Data: Record<string, string> }> => {
    const body = JSON.stringify({ Data: { Reason: REASON, ...data } });
    const headers = { "content-type": "application/json" };
    return await (await env.asOperator(`/operations${path}`, { method: "POST", headers, body })).json();
  };
  await change("/banks/BANKB/hold", {});
  await change(`/software/${env.otherTpp.clientId}/block`, {});
  await change(`/software/${env.otherTpp.clientId}/revoke-tokens`, {});
  const { Data: { OutageId: outageId = "" } } = await change("/banks/BANKA/outages", {
    FromDateTime: new Date(env.now).toISOString(),
    UntilDateTime: new Date(env.now + 3_600_000).toISOString(),
    Text: "Maintenance of the core banking system.",
  });
  for (let minute = 0; minute < 5; minute++) {
    env.now += 60_000;
    await env.platform.watchBanks();
  }
  await env.platform.writeFigures();
  const ids: Readonly<Record<string, string>> = { paymentId: id, outageId, id: "BANKA" };
  const declared = Object.keys(OPERATION_ROLES).filter((name) => name.startsWith("GET /console"));
  const paths = declared.map((name) =>
    name.slice(4).replace("/cases/{id}", `/cases/${id}`).replaceAll(
      /\{(\w+)\}/g,
      (_, part) => ids[part] ?? "",
    )
  );
  return [
    ...paths,
    "/console/orders?state=held",
    "/console/reports?id=BANKA",
    "/console/reports?kind=tpps",
    `/console/search?q=${id}`,
    "/console/search?amount=165.88&currency=EUR&from=2040-01-15",
    "/console/nowhere",
  ];
}

/** In Arabic, at 320 pixels, without scripts, in the dark. */
async function onPhone(site: Site): Promise<void> {
  const page = await openPage(site, {
    viewport: PHONE,
    javaScriptEnabled: false,
    colorScheme: "dark",
    locale: "ar",
  });
  const blocked = blockedOn(page);
  await signIn(page, site.origin);
  for (const path of site.pages) {
    await page.goto(`${site.origin}${path}`);
    await assertFits(page, path);
    await assertBigTargets(page, path);
    await picture(page, `console-phone-${nameOf(path)}`);
  }
  assertEquals(blocked, []);
}

/** In English, by keyboard, with axe's rules in both colour schemes. */
async function onDesk(site: Site): Promise<void> {
  const page = await openPage(site, { viewport: DESK, locale: "en", reducedMotion: "reduce" });
  const blocked = blockedOn(page);
  await page.goto(`${site.origin}/console`);
  await assertAccessible(page, "sign-in");
  await picture(page, "console-desk-sign-in");
  await signIn(page, site.origin);
  for (const path of site.pages) {
    await page.goto(`${site.origin}${path}`);
    await assertFits(page, path);
    await assertAccessible(page, path);
    await page.emulateMedia({ colorScheme: "dark" });
    await assertContrast(page, `${path} in the dark`);
    await page.emulateMedia({ colorScheme: "light" });
    await picture(page, `console-desk-${nameOf(path)}`);
  }
  await holdByKeyboard(page, site);
  assertEquals(blocked, []);
}

/** The page of a participant's people: on a phone in Arabic, and on a desk. */
async function asParticipant(site: Site, orgId: string): Promise<void> {
  const token = personOf(orgId).authorization.replace("Bearer ", "");
  const phone = await openPage(site, { viewport: PHONE, javaScriptEnabled: false, locale: "ar" });
  const desk = await openPage(site, { viewport: DESK, locale: "en", reducedMotion: "reduce" });
  for (const page of [phone, desk]) await signIn(page, site.origin, token, "/console/own");
  await assertFits(phone, "own");
  await assertBigTargets(phone, "own");
  await picture(phone, `console-phone-own-${orgId}`);
  await assertAccessible(desk, "own");
  await desk.emulateMedia({ colorScheme: "dark" });
  await assertContrast(desk, "own in the dark");
  await desk.emulateMedia({ colorScheme: "light" });
  await picture(desk, `console-desk-own-${orgId}`);
}

/** Releases and holds a bank with the keyboard alone. */
async function holdByKeyboard(page: Page, { origin }: Site): Promise<void> {
  await page.goto(`${origin}/console/banks`);
  await stopAt(page, 'a[href="/console/banks/BANKB/release"]');
  await page.keyboard.press("Enter");
  await page.waitForURL("**/release");
  await stopAt(page, "#reason");
  await page.keyboard.type(REASON);
  await stopAt(page, "button.accept");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/banks?done=*");
  assertEquals(await page.locator('[role="status"]').textContent(), "The orders of the bank are released.");
  await page.locator('a[href="/console/banks/BANKB/hold"]').waitFor();
}

async function openPage({ browser }: Site, options: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(10_000);
  return page;
}

function nameOf(path: string): string {
  return path.replace("/console", "").replaceAll(/[0-9a-f]{8}-[0-9a-f-]+|[^\w]+/g, "-") || "dashboard";
}

/** The public page of the banks' service levels in a real browser: in four languages, on a phone, without scripts. */
/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import type { Browser } from "playwright-core";
import { isChromiumThere, openChromium } from "support/chromium.ts";
import { accepts, down, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";
import { LANGUAGES } from "../../src/pages/language.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  blockedOn,
  picture,
} from "./page_checks.ts";

const DAY_MS = 86_400_000;
const DAYS = 5;

/** Bank A works for some days and is held on one of them, and fails on the last. */
async function busyDays(env: PushEnvironment): Promise<void> {
  for (let day = 0; day < DAYS; day++) {
    env.answer = day === DAYS - 1 ? down : accepts;
    await paid(env);
    if (day === 2) await hold(env, "hold");
    for (let minute = 0; minute < 10; minute++) {
      if (day === 2 && minute === 4) await hold(env, "release");
      env.now += 60_000;
      await env.platform.watchBanks();
    }
    if (day < DAYS - 1) env.now += DAY_MS;
  }
  await env.platform.writeFigures();
}

async function hold(env: PushEnvironment, verb: "hold" | "release"): Promise<void> {
  const body = JSON.stringify({ Data: { Reason: "The bank's desk has asked for it." } });
  const headers = { "content-type": "application/json" };
  const answer = await env.asOperator(`/operations/banks/BANKA/${verb}`, { method: "POST", headers, body });
  await answer.body?.cancel();
}

Deno.test({
  name: "the page of service levels is for everyone [WCAG 2.2 AA] [REP5]",
  ignore: !isChromiumThere(),
  fn: async () => {
    await using env = await openPushEnvironment(accepts);
    await busyDays(env);
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => env.browser(request),
    );
    const browser = await openChromium();
    try {
      const origin = `http://127.0.0.1:${server.addr.port}`;
      for (const path of ["/service-levels?", "/service-levels?bank=BANKA&"]) {
        for (const language of LANGUAGES) await onPhone(browser, `${origin}${path}lang=${language}`);
        await onDesk(browser, `${origin}${path}lang=en`);
      }
    } finally {
      await browser.close();
      await server.shutdown();
    }
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

async function onPhone(browser: Browser, address: string): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 320, height: 800 },
    javaScriptEnabled: false,
    colorScheme: "dark",
  });
  const page = await context.newPage();
  const blocked = blockedOn(page);
  await page.goto(address);
  await assertFits(page, address);
  await assertBigTargets(page, address);
  await picture(page, `levels-phone-${nameOf(address)}`);
  assertEquals(blocked, []);
  await context.close();
}

async function onDesk(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(address);
  await assertFits(page, address);
  await assertAccessible(page, address);
  await page.emulateMedia({ colorScheme: "dark" });
  await assertContrast(page, `${address} in the dark`);
  await page.emulateMedia({ colorScheme: "light" });
  await picture(page, `levels-desk-${nameOf(address)}`);
  const plots = await page.locator(".plot rect.value").count();
  assertEquals(plots, address.includes("bank=") ? DAYS : 0, "a bar for each day since the registration");
  await page.close();
}

function nameOf(address: string): string {
  return new URL(address).search.replaceAll(/\W+/g, "-");
}

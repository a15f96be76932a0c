/** The public page of the banks' service levels in a real browser: in four languages, on a phone, without scripts. */
/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import { isChromiumThere } from "testing/chromium.ts";
import { accepts, down, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";
import { LANGUAGES } from "../../src/pages/language.ts";
import { assertOnDesk, openDesk, openPhone, openSite, type Site } from "./console_site.ts";
import { assertBigTargets, assertFits, blockedOn, picture } from "./page_checks.ts";
import { changeAs } from "testing/operators.ts";

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
  const reason = { Reason: "The bank's desk has asked for it." };
  const answer = await changeAs(env, `/banks/BANKA/${verb}`, reason);
  await answer.body?.cancel();
}

Deno.test({
  name: "the page of service levels is for everyone [WCAG 2.2 AA] [REP5]",
  ignore: !isChromiumThere(),
  fn: async () => {
    await using env = await openPushEnvironment(accepts);
    await busyDays(env);
    await using site = await openSite((request) => env.browser(request));
    for (const path of ["/service-levels?", "/service-levels?bank=BANKA&"]) {
      for (const language of LANGUAGES) await onPhone(site, `${path}lang=${language}`);
      await onDesk(site, `${path}lang=en`);
    }
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

async function onPhone(site: Site, path: string): Promise<void> {
  const page = await openPhone(site);
  const blocked = blockedOn(page);
  await page.goto(`${site.origin}${path}`);
  await assertFits(page, path);
  await assertBigTargets(page, path);
  await picture(page, `levels-phone-${pictureName(path)}`);
  assertEquals(blocked, []);
  await page.close();
}

async function onDesk(site: Site, path: string): Promise<void> {
  const page = await openDesk(site);
  await page.goto(`${site.origin}${path}`);
  await assertOnDesk(page, path);
  await picture(page, `levels-desk-${pictureName(path)}`);
  const plots = await page.locator(".plot rect.value").count();
  assertEquals(plots, path.includes("bank=") ? DAYS : 0, "a bar for each day since the registration");
  await page.close();
}

function pictureName(path: string): string {
  return path.replaceAll(/\W+/g, "-");
}

/**
 * Every page of the directory's console in a real browser: accessible, readable on a small phone, usable by keyboard and
 * without scripts. With `SCREENSHOTS=1`, screenshots go to `.data/screenshots`.
 */
/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import {
  ADMIN_TOKEN,
  bank,
  type DirectoryEnvironment,
  signingRequest,
} from "testing/directory_environment.ts";
import { isChromiumThere, openChromium } from "support/chromium.ts";
import { openCertified, reportOf } from "../directory/certified.ts";
import { signIn, stopAt } from "./console_visit.ts";
import {
  assertAccessible,
  assertBigTargets,
  assertContrast,
  assertFits,
  blockedOn,
  picture,
} from "./page_checks.ts";

/** CSS pixels. */
const PHONE = { width: 320, height: 800 };
const DESK = { width: 1280, height: 800 };
const SHOP = "/console/participants/SHOP";

interface Site {
  readonly browser: Browser;
  readonly origin: string;
  readonly pages: readonly string[];
}

Deno.test({
  name:
    "every page of the directory's console is for everyone, also by keyboard and without scripts [WCAG 2.2 AA] [DRC3]",
  ignore: !isChromiumThere(),
  fn: async () => {
    const { env: opened, onboarded } = await openCertified();
    await using env = opened;
    const kid = await busyDirectory(env, onboarded.software_client_id);
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => env.adminFetch(request),
    );
    const browser = await openChromium();
    try {
      const changes = [
        "certificates",
        `keys/${kid}/revoke`,
        "statement",
        "software/status",
        "status",
        "certifications",
        "logins",
      ];
      const pages = [
        "/console",
        "/console/onboard",
        SHOP,
        ...changes.map((change) => `${SHOP}/${change}`),
        "/console/restored/confirm",
        "/console/nowhere",
      ];
      const site = { browser, origin: `http://127.0.0.1:${server.addr.port}`, pages };
      await onPhone(site);
      await onDesk(site);
      await revokeByKeyboard(site, kid);
      await asParticipant(site, env);
    } finally {
      await browser.close();
      await server.shutdown();
    }
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

/** Makes something to show. Returns the kid of a key in use. */
async function busyDirectory(env: DirectoryEnvironment, softwareClientId: string): Promise<string> {
  await env.admin("POST", "/participants", await bank([2, 3], { org_name: "Banco de la República del Sur" }));
  await env.admin("PUT", "/participants/BANKA/status", { status: "Suspended", reason: "audit" });
  const failed = { claims: { passed: false, cases: [{ id: "TPP-H01", passed: false }] } };
  for (const changes of [failed, {}]) {
    env.now += 1000;
    const report = await reportOf(env, softwareClientId, changes);
    await env.admin("POST", "/participants/SHOP/certifications", { report });
  }
  const more = { csrs: { signing: await signingRequest(4), encryption: await signingRequest(5) } };
  await env.admin("POST", "/participants/SHOP/certificates", more);
  const { keys: [first, second] } = (await env.admin("GET", "/participants/SHOP")).body;
  await env.admin("POST", `/participants/SHOP/keys/${first.kid}/revoke`, { reason: "The key was lost." });
  return second.kid;
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
  await signIn(page, site.origin, ADMIN_TOKEN);
  for (const path of site.pages) {
    await page.goto(`${site.origin}${path}`);
    await assertFits(page, path);
    await assertBigTargets(page, path);
    await picture(page, `directory-phone-${nameOf(path)}`);
  }
  assertEquals(blocked, []);
}

/** In English, with axe's rules in both colour schemes. */
async function onDesk(site: Site): Promise<void> {
  const page = await openPage(site, { viewport: DESK, locale: "en", reducedMotion: "reduce" });
  const blocked = blockedOn(page);
  await page.goto(`${site.origin}/console`);
  await assertAccessible(page, "sign-in");
  await picture(page, "directory-desk-sign-in");
  await signIn(page, site.origin, ADMIN_TOKEN);
  for (const path of site.pages) {
    await page.goto(`${site.origin}${path}`);
    await assertFits(page, path);
    await assertAccessible(page, path);
    await page.emulateMedia({ colorScheme: "dark" });
    await assertContrast(page, `${path} in the dark`);
    await page.emulateMedia({ colorScheme: "light" });
    await picture(page, `directory-desk-${nameOf(path)}`);
  }
  assertEquals(blocked, []);
}

/** Revokes a key with the keyboard alone, and tries to leave the reason out first. */
async function revokeByKeyboard(site: Site, kid: string): Promise<void> {
  const page = await openPage(site, { viewport: DESK, locale: "es", javaScriptEnabled: false });
  await signIn(page, site.origin, ADMIN_TOKEN);
  await stopAt(page, `a[href="${SHOP}"]`);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${SHOP}`);
  await stopAt(page, `a[href="${SHOP}/keys/${kid}/revoke"]`);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/revoke");
  await stopAt(page, "#reason");
  await page.keyboard.type("Se ha perdido.");
  await stopAt(page, "button.accept");
  await page.keyboard.press("Enter");
  await page.waitForURL("**?done=revokeKey");
  assertEquals(await page.locator('[role="status"]').textContent(), "La clave está revocada.");
  await picture(page, "directory-desk-es-revoked");
}

/** The page of a participant's person: on a phone in Arabic, and on a desk. */
async function asParticipant(site: Site, env: DirectoryEnvironment): Promise<void> {
  const { body: { token } } = await env.admin("POST", "/participants/SHOP/logins", { name: "luis" });
  const phone = await openPage(site, { viewport: PHONE, javaScriptEnabled: false, locale: "ar" });
  const desk = await openPage(site, { viewport: DESK, locale: "en", reducedMotion: "reduce" });
  for (const page of [phone, desk]) await signIn(page, site.origin, token, "/console/own");
  for (const path of ["/console/own", "/console/own/certificates", "/console/own/statement"]) {
    for (const page of [phone, desk]) await page.goto(`${site.origin}${path}`);
    await assertFits(phone, path);
    await assertBigTargets(phone, path);
    await assertAccessible(desk, path);
    await picture(desk, `directory-desk-${nameOf(path)}`);
  }
}

async function openPage({ browser }: Site, options: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(10_000);
  return page;
}

function nameOf(path: string): string {
  return path.replace("/console", "").replaceAll(/keys\/[^/]+|[^\w]+/g, "-") || "participants";
}

/**
 * Every page of the operators' console in a real browser: accessible, readable on a small phone, usable by keyboard and
 * without scripts. With `SCREENSHOTS=1`, screenshots go to `.data/screenshots`.
 */
/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { OPERATION_ROLES } from "../../src/platform/guards/security/operator_roles.ts";
import type { Environment } from "testing/environment.ts";
import { isChromiumThere } from "testing/chromium.ts";
import { later, openPushEnvironment, paid } from "support/orders.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { changeAs, OPERATOR_TOKENS } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { CALLBACK, subscribed } from "../platform/events/subscribing.ts";
import { openDesk, openPhone, openSite, type Site, walkOnDesk, walkOnPhone } from "./console_site.ts";
import { signIn, stopAt } from "./console_visit.ts";

const REASON = "The bank's desk has asked for it.";

Deno.test({
  name:
    "every page of the console is for everyone, also by keyboard and without scripts [WCAG 2.2 AA] [OP13, OWN1]",
  ignore: !isChromiumThere(),
  fn: async () => {
    await using env = await openPushEnvironment(() => new Response("The desk is closed.", { status: 503 }), {
      operators: await testPeople(),
      environment: { PLATFORM_FOUR_EYES: "revoke-tokens", PLATFORM_OPERATOR_NAME: "Example Payments" },
      eventNotificationUri: { tpp: CALLBACK },
    });
    const pages = await busyConsole(env);
    await using site = await openSite((request) => env.platform.operations.fetch(request));
    const visit = { name: "console", token: OPERATOR_TOKENS.maria, pages };
    await walkOnPhone(site, visit);
    await walkOnDesk(site, visit);
    await holdByKeyboard(site);
    await goByMenu(site);
    await readBothDirections(site);
    for (const orgId of ["BANKA", env.tpp.orgId]) await asParticipant(site, orgId);
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});

/** Makes something to show, and returns the paths of every page. */
async function busyConsole(env: Environment & { readonly pushes: unknown[] }): Promise<readonly string[]> {
  await subscribed(env);
  const { DomesticPaymentId: id } = await paid(env as never);
  const dispute = { DomesticPaymentId: id, Action: "Open", Statement: "The payee says that it never came." };
  const body = JSON.stringify({ Data: dispute });
  const token = await clientToken(env, env.tpp, "BANKA");
  await good(call(env, env.tpp, token, "/BANKA/disputes/v1", { body }), 201);
  for (let hour = 0; hour < 12; hour++) await later(env as never, 3_600_000);
  await env.platform.growLog();
  await env.platform.deliverEvents();
  const change = (path: `/${string}`, data: object): Promise<{ Data: Record<string, string> }> =>
    bodyOf(changeAs(env, path, { Reason: REASON, ...data }));
  await change("/banks/BANKB/hold", {});
  await change(`/software/${env.otherTpp.clientId}/block`, {});
  const { Data: { ProposalId: proposal = "" } } = await change(
    `/software/${env.otherTpp.clientId}/revoke-tokens`,
    {},
  );
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
  await env.platform.countFunnel();
  const ids: Readonly<Record<string, string>> = {
    paymentId: id,
    outageId,
    id: "BANKA",
    clientId: env.tpp.clientId,
    bank: "BANKA",
    entry: "0",
    item: "0",
  };
  const declared = Object.keys(OPERATION_ROLES).filter((name) =>
    name.startsWith("GET /console") && !/\/bundle$|\.csv$|\.json$/.test(name) // downloads
  );
  const paths = declared.map((name) =>
    name.slice(4).replace("/cases/{id}", `/cases/${id}`)
      .replace("/participants/{id}", `/participants/${env.tpp.clientId}`)
      .replace("/proposals/{id}", `/proposals/${proposal}`)
      .replaceAll(/\{(\w+)\}/g, (_, part) => ids[part] ?? "")
      .replace(/^\/console$/, "/console?live=0") // axe may take longer than its refresh
  );
  return [
    ...paths,
    "/console/orders?state=held",
    "/console/orders?state=dead",
    "/console/reports?id=BANKA",
    "/console/reports?kind=tpps",
    "/console/reports/funnel?by=day",
    `/console/search?q=${id}`,
    "/console/search?amount=165.88&currency=EUR&from=2040-01-15",
    "/console/nowhere",
  ];
}

/** The page of a participant's people: on a phone in Arabic, and on a desk. */
async function asParticipant(site: Site, orgId: string): Promise<void> {
  const token = personOf(orgId).authorization.replace("Bearer ", "");
  const visit = { name: `console-${orgId}`, token, first: "/console/own", pages: ["/console/own"] };
  await walkOnPhone(site, visit);
  await walkOnDesk(site, visit);
}

/** An English text on an Arabic page begins at the side at which the page begins. */
async function readBothDirections(site: Site): Promise<void> {
  const page = await openDesk(site, "ar");
  await signIn(page, site.origin);
  await page.goto(`${site.origin}/console/participants/none`);
  const side = await page.locator('#fault [lang="en"]').evaluate((text) => getComputedStyle(text).textAlign);
  assertEquals(side, "right");
  await page.emulateMedia({ media: "print" });
  assertEquals(await page.locator("nav:visible, form:visible, .button:visible").count(), 0, "printed");
}

/** Goes to another page with the keyboard of a phone: the folded menu names the current page, or that of a part of it. */
async function goByMenu(site: Site): Promise<void> {
  const page = await openPhone(site, "en");
  await signIn(page, site.origin);
  await page.goto(`${site.origin}/console/participants/none`);
  assertEquals(await page.locator(".menu > summary").textContent(), "Participants");
  const header = await page.locator("header").boundingBox();
  assert(header !== null && header.height < 200, `the header takes ${header?.height} of 800 pixels`);
  await stopAt(page, ".menu > summary");
  await page.keyboard.press("Enter");
  await stopAt(page, '.menu a[href="/console/audit"]');
  assertEquals(await page.locator(".menu [aria-current]").textContent(), "Participants");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/audit");
  await page.locator(".menu > summary", { hasText: "Who did what" }).waitFor();
  assert(!await page.locator(".menu a").first().isVisible(), "the menu of the next page is folded");
}

/** Releases and holds a bank with the keyboard alone. */
async function holdByKeyboard(site: Site): Promise<void> {
  const page = await openDesk(site);
  await signIn(page, site.origin);
  await page.goto(`${site.origin}/console/banks`);
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

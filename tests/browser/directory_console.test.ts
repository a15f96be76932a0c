/**
 * Every page of the directory's console in a real browser: accessible, readable on a small phone, usable by keyboard and
 * without scripts. With `SCREENSHOTS=1`, screenshots go to `.data/screenshots`.
 */
/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  bank,
  type DirectoryEnvironment,
  signingRequest,
} from "testing/directory_environment.ts";
import { isChromiumThere } from "testing/chromium.ts";
import { openCertified, reportOf } from "../directory/certification/certified.ts";
import { asLuis, BOTH } from "../directory/changes/two_administrators.ts";
import { openDesk, openSite, type Site, walkOnDesk, walkOnPhone } from "./console_site.ts";
import { signIn, stopAt } from "./console_visit.ts";
import { picture } from "./page_checks.ts";

const SHOP = "/console/participants/SHOP";

Deno.test({
  name:
    "every page of the directory's console is for everyone, also by keyboard and without scripts [WCAG 2.2 AA] [DRC3]",
  ignore: !isChromiumThere(),
  fn: async () => {
    const { env: opened, onboarded } = await openCertified({}, {
      administrators: BOTH,
      fourEyes: ["activate"],
    });
    await using env = opened;
    const kid = await busyDirectory(env, onboarded.software_client_id);
    await using site = await openSite((request) => env.adminFetch(request));
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
      "/console/proposals",
      `/console/proposals/${await proposedByLuis(env)}/approve`,
      "/console/restored/confirm",
      "/console/nowhere",
    ];
    const visit = { name: "directory", token: ADMIN_TOKEN, pages };
    await walkOnPhone(site, visit);
    await walkOnDesk(site, visit);
    await revokeByKeyboard(site, kid);
    await approveByKeyboard(site);
    await asParticipant(site, env);
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
  await env.admin("POST", `/participants/SHOP/keys/${first?.kid}/revoke`, { reason: "The key was lost." });
  return second?.kid ?? "";
}

/** Revokes a key with the keyboard alone, and tries to leave the reason out first. */
async function revokeByKeyboard(site: Site, kid: string): Promise<void> {
  const page = await openDesk(site, "es", false);
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

async function proposedByLuis(env: DirectoryEnvironment): Promise<string> {
  const change = { status: "Active", reason: "The audit is over." };
  const { body } = await asLuis(env, "PUT", "/participants/BANKA/status", change);
  return body.proposal_id ?? "";
}

/** Approves the proposal of another administrator with the keyboard alone. */
async function approveByKeyboard(site: Site): Promise<void> {
  const page = await openDesk(site, "fr", false);
  await signIn(page, site.origin, ADMIN_TOKEN);
  await stopAt(page, 'a[href="/console/proposals"]');
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/proposals");
  await stopAt(page, 'a[href$="/approve"]');
  await page.keyboard.press("Enter");
  await page.waitForURL("**/approve");
  await stopAt(page, "#reason");
  await page.keyboard.type("Dossier relu.");
  await stopAt(page, "button.accept");
  await page.keyboard.press("Enter");
  await page.waitForURL("**?done=approve");
  assertEquals(
    await page.locator('[role="status"]').textContent(),
    "La modification est approuvée et faite.",
  );
  await picture(page, "directory-desk-fr-approved");
}

/** The pages of a participant's person: on a phone in Arabic, and on a desk. */
async function asParticipant(site: Site, env: DirectoryEnvironment): Promise<void> {
  const { body: { token } } = await env.admin("POST", "/participants/SHOP/logins", { name: "luis" });
  const pages = ["/console/own", "/console/own/certificates", "/console/own/statement"];
  const visit = { name: "directory", token, first: "/console/own", pages };
  await walkOnPhone(site, visit);
  await walkOnDesk(site, visit);
}

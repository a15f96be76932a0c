/** Each change of the console: what it does, in whose name, and what it says if it is not made. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { firstOf, present } from "testing/answers.ts";
import type { DirectoryRecord } from "testing/directory_answers.ts";
import {
  bank,
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  signingRequest,
  software,
  START,
} from "testing/directory_environment.ts";
import type { ConsoleBrowser, Page } from "testing/console_browser.ts";
import { everything } from "testing/store_contents.ts";
import { openTestStore } from "testing/test_store.ts";
import { stepsOf } from "support/steps.ts";
import { openCertified, reportOf } from "../certification/certified.ts";
import { onboarded } from "../changes/onboarded.ts";
import { issue, signedIn, signIn } from "./visited.ts";

const SHOP = "/console/participants/SHOP";
const REASON = "The participant has asked for it.";

const recordOf = async (env: DirectoryEnvironment, orgId = "SHOP"): Promise<DirectoryRecord> =>
  (await env.admin("GET", `/participants/${orgId}`)).body;

async function lastEntry(env: DirectoryEnvironment, orgId = "SHOP"): Promise<readonly string[]> {
  const { history } = (await env.admin("GET", `/participants/${orgId}/history`)).body;
  const { who, what, reason } = present(history.at(-1));
  return reason === undefined ? [who, what] : [who, what, reason];
}

/** Follows the redirect and returns what the page says. */
async function said(browser: ConsoleBrowser, page: Page): Promise<string | undefined> {
  assertEquals(page.status, 303, page.html);
  const { html } = await browser.get(page.headers.get("location") ?? "");
  return /<p class="note" role="status">([^<]+)<\/p>/.exec(html)?.[1];
}

/** What a browser sends for the form of the page as it is. */
function valuesIn(html: string): Record<string, string> {
  const main = html.slice(html.indexOf("<article"));
  const inputs = [...main.matchAll(/<input [^>]*>/g)].map(([input]) => input).filter((one) =>
    !one.includes('type="checkbox"')
  );
  const named = inputs.map((one) =>
    [/ name="([^"]+)"/.exec(one)?.[1] ?? "", / value="([^"]*)"/.exec(one)?.[1] ?? ""] as const
  );
  const areas = [...main.matchAll(/<textarea [^>]*name="([^"]+)"[^>]*>([^<]*)</g)].map((
    [, name = "", text = ""],
  ) => [name, text] as const);
  const text = (value: string): string => value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  return Object.fromEntries(
    [...named, ...areas].flatMap(([name, value]) => value === "" ? [] : [[name, text(value)]]),
  );
}

async function form(changes: Record<string, string> = {}): Promise<Record<string, string>> {
  const { environment: _, redirect_uris, ...details } = software();
  return {
    role: "PISP",
    org_id: "NEWSHOP",
    org_name: "New Shop",
    registration_number: "1",
    business_name: "Ana",
    business_email: "ana@shop.example",
    business_phone: "+57 601 555 0100",
    technical_name: "Luis",
    technical_email: "luis@shop.example",
    technical_phone: "+57 601 555 0101",
    ...details,
    redirect_uris: redirect_uris?.join("\r\n"),
    csr_signing: await signingRequest(4),
    csr_transport: await signingRequest(5),
    ...changes,
  };
}

Deno.test("an administrator onboards a TPP and a bank in the console [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const made = await browser.submit("/console/onboard", await form());
  assertEquals(await said(browser, made), "The participant is onboarded.");
  const record = await recordOf(env, "NEWSHOP");
  assertEquals([record.org_name, record.software.redirect_uris.length], ["New Shop", 2]);
  assertEquals(await lastEntry(env, "NEWSHOP"), ["ana", "participant.onboarded"]);
  const asBank = await form({
    role: "ASPSP",
    org_id: "BANKN",
    redirect_uris: "https://bank.example/sca",
    consent_managedby_bank: "true",
    payment_orders_uri: "https://bank.example/orders",
    csr_signing: await signingRequest(6),
    csr_transport: await signingRequest(7),
    csr_encryption: await signingRequest(8),
  });
  await said(browser, await browser.submit("/console/onboard", asBank));
  const { consent_managedby_bank, payment_orders_uri, keys } = await recordOf(env, "BANKN");
  assertEquals([consent_managedby_bank, payment_orders_uri, keys.length], [
    true,
    "https://bank.example/orders",
    3,
  ]);
});

Deno.test("an onboarding that is rejected names each field, keeps what was typed, and writes nothing [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const before = await everything(env.store);
  const sent = await form({
    org_name: "",
    org_id: "x",
    csr_signing: "no request",
    client_name: "<b>Shop</b>",
  });
  const page = await browser.submit("/console/onboard", sent);
  assertEquals(page.status, 400);
  assertMatch(
    page.html,
    /id="org_name-fault"[^>]*>“Name of the organisation”: must be text of 1 to 128 characters</,
  );
  assertMatch(
    page.html,
    /id="org_id-fault"[^>]*>“Id of the organisation”: must be 2 to 32 letters, digits, - or _</,
  );
  assertStringIncludes(page.html, "&lt;b&gt;Shop&lt;/b&gt;");
  assert(!page.html.includes("<b>Shop"));
  assertEquals(await everything(env.store), before);
});

Deno.test("an administrator adds a certificate and revokes a key in the console [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const added = await browser.submit(`${SHOP}/certificates`, { csr_signing: await signingRequest(4) });
  assertEquals(await said(browser, added), "The certificates are issued.");
  assertEquals(await lastEntry(env), ["ana", "certificates.issued"]);
  const { keys } = await recordOf(env);
  assertEquals(keys.length, 3);
  const { kid } = firstOf(keys);
  const revoked = await browser.submit(`${SHOP}/keys/${kid}/revoke`, { reason: "It was\r\nlost." });
  assertEquals(await said(browser, revoked), "The key is revoked.");
  assertEquals(await lastEntry(env), ["ana", "key.revoked", "It was lost."]);
  const { html } = await browser.get(SHOP);
  assert(!html.includes(`/keys/${kid}/revoke`), "a revoked key has no link");
  assertEquals(
    (await browser.submit(`${SHOP}/keys/${"A".repeat(27)}/revoke`, { reason: REASON })).status,
    404,
  );
  assertEquals((await browser.submit(`${SHOP}/keys/${kid}/revoke`)).status, 400, "no reason");
});

Deno.test("an administrator renews a statement: the form has the current details [DRC3]", async () => {
  await using env = await onboarded();
  env.now += 60_000;
  const browser = await signedIn(env);
  const { html } = await browser.get(`${SHOP}/statement`);
  assertStringIncludes(html, 'value="1.2.3"');
  assertStringIncludes(html, "https://shop.example/callback\nhttp://localhost:8444/callback</textarea>");
  assert(!html.includes("payment_orders_uri"), "only banks have it");
  const { environment: _, redirect_uris, ...details } = software();
  const event_notification_uri = "https://shop.example/events";
  const sent = {
    ...details,
    version: "2.0",
    redirect_uris: redirect_uris?.join("\n"),
    event_notification_uri,
  };
  const renewed = await browser.submit(`${SHOP}/statement`, sent);
  assertEquals(await said(browser, renewed), "The statement is renewed.");
  assertEquals(await lastEntry(env), ["ana", "statement.issued"]);
  const { html: statement, headers } = await browser.get(`${SHOP}/files/statement`);
  assertEquals(decodeJwt(statement)["software_version"], "2.0");
  assertEquals(headers.get("content-type"), "application/jwt");
  assertEquals((await recordOf(env)).event_notification_uri, event_notification_uri);
  env.now += 60_000;
  const { event_notification_uri: _none, ...without } = sent;
  await said(browser, await browser.submit(`${SHOP}/statement`, without));
  assertEquals((await recordOf(env)).event_notification_uri, null);
});

Deno.test("a form changes what its person has changed: what others have changed meanwhile stays [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const { html } = await browser.get(`${SHOP}/statement`);
  env.now += 60_000;
  const redirect_uris = ["https://shop.example/callback"]; // the other one must not be used any more
  await env.admin("POST", "/participants/SHOP/statement", { redirect_uris });
  const rejected = await browser.post(`${SHOP}/statement`, { ...valuesIn(html), version: "x".repeat(33) });
  assertEquals(rejected.status, 400);
  const sent = { ...valuesIn(rejected.html), version: "1.2.3", description: "Sells more" };
  const page = await browser.post(`${SHOP}/statement`, sent);
  assertEquals(await said(browser, page), "The statement is renewed.");
  const { software: { description, redirect_uris: after } } = await recordOf(env);
  assertEquals([description, after], ["Sells more", redirect_uris]);
});

Deno.test("an onboarding with a request for encryption alone is not made without it [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const { csr_signing: _signing, csr_transport: _transport, ...rest } = await form();
  const page = await browser.submit("/console/onboard", { ...rest, csr_encryption: await signingRequest(4) });
  assertEquals(page.status, 400);
  assertStringIncludes(page.html, "csrs.signing: must be a PEM certificate signing request");
});

Deno.test("a bank's statement keeps or removes its address for orders [DRC3]", async () => {
  await using env = await onboarded();
  await env.admin("POST", "/participants", await bank([2, 3]));
  const browser = await signedIn(env);
  const at = "/console/participants/BANKA";
  const { environment: _, ...details } = software();
  const sent = { ...details, redirect_uris: "https://bank-a.example/sca", consent_managedby_bank: "true" };
  const payment_orders_uri = "https://bank-a.example/orders";
  await said(browser, await browser.submit(`${at}/statement`, { ...sent, payment_orders_uri }));
  assertEquals((await recordOf(env, "BANKA")).payment_orders_uri, payment_orders_uri);
  await said(browser, await browser.submit(`${at}/statement`, sent));
  assertEquals((await recordOf(env, "BANKA")).payment_orders_uri, null);
});

Deno.test("an administrator sets statuses, and an illegal one is rejected in words [DRC3]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const set = (page: string, status: string): Promise<Page> =>
    browser.submit(`${SHOP}/${page}`, { status, reason: REASON });
  await said(browser, await set("software/status", "Inactive"));
  assertEquals(await lastEntry(env), ["ana", "software.status", REASON]);
  await said(browser, await set("status", "Withdrawn"));
  const illegal = await set("status", "Active");
  assertEquals(illegal.status, 409);
  assertStringIncludes(illegal.html, "The organisation is Withdrawn and its software Revoked");
  assertEquals((await recordOf(env)).org_status, "Withdrawn");
});

Deno.test("an administrator records a certification report and downloads it, which no other person does [DRC3, DR8, E5]", async () => {
  const { env: opened, onboarded: { software_client_id } } = await openCertified();
  await using env = opened;
  const browser = await signedIn(env);
  const report = await reportOf(env, software_client_id);
  const recorded = await browser.submit(`${SHOP}/certifications`, { report: `${report}\r\n` });
  assertEquals(await said(browser, recorded), "The report is recorded.");
  const { html } = await browser.get(SHOP);
  const file = /href="([^"]+\/files\/reports\/[^"]+)"/.exec(html)?.[1] ?? "";
  assertEquals((await browser.get(file)).html, report);
  const person = await signIn(env, (await issue(env)).token);
  const own = await person.get("/console/own");
  assert(own.html.includes("tpp 1.0") && !own.html.includes("/files/reports/"));
  assertEquals((await person.get(file.replace(SHOP, "/console/own"))).status, 404);
  const wrong = await browser.submit(`${SHOP}/certifications`, { report: "x" });
  assertEquals(wrong.status, 400);
  assertStringIncludes(wrong.html, "a compact JWS");
});

Deno.test("an administrator confirms a restored copy in the console [DRC3]", async () => {
  const store = await openTestStore();
  const takenAt = START - 3_600_000;
  await store.commit({ checks: [], writes: [{ kind: "set", key: ["store_copy"], value: { takenAt } }] });
  await using env = await openDirectoryEnvironment({ store });
  const browser = await signedIn(env);
  const { html } = await browser.get("/console");
  assertStringIncludes(html, "a restored copy of");
  assertStringIncludes(html, "1 February 2026 at 09:00 UTC");
  assertEquals((await env.get("/status")).status, 503);
  const confirmed = await browser.submit("/console/restored/confirm");
  assertEquals(await said(browser, confirmed), "The directory publishes again.");
  assertEquals((await env.get("/status")).status, 200);
  assert(!(await browser.get("/console")).html.includes("a restored copy of"));
});

const PAGES = [
  "/console/onboard",
  `${SHOP}/certificates`,
  `${SHOP}/keys/${"A".repeat(27)}/revoke`,
  `${SHOP}/statement`,
  `${SHOP}/software/status`,
  `${SHOP}/status`,
  `${SHOP}/certifications`,
  "/console/restored/confirm",
  "/console/sign-out",
];

Deno.test("a form without the token of its session, or without a session, changes nothing [DRC2]", async (t) => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const before = await everything(env.store);
  const fields = { ...await form(), status: "Suspended", reason: REASON };
  await stepsOf(t, PAGES, (page) => page, async (page) => {
    for (const form_token of ["", "A".repeat(43)]) {
      assertEquals((await browser.post(page, { ...fields, form_token })).status, 403);
    }
    const cookies = new Map(browser.cookies);
    const { html } = await browser.get("/console/onboard");
    const form_token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";
    browser.cookies.clear();
    const outside = await browser.post(page, { ...fields, form_token });
    assertEquals([outside.status, outside.headers.get("location")?.slice(0, 16)], [303, "/console/sign-in"]);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
  });
  assertEquals(await everything(env.store), before);
  assertEquals((await browser.get("/console")).status, 200, "still signed in");
});

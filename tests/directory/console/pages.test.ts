/** Who reaches the directory's console, and what its pages show. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ADMINISTRATORS, newCredential, openCredentials } from "../../../src/base/http/credentials.ts";
import type { DirectoryHistory } from "testing/directory_answers.ts";
import { firstOf } from "testing/answers.ts";
import {
  ADMIN_TOKEN,
  bank,
  ISSUER,
  openDirectoryEnvironment,
  START,
  thirdParty,
} from "testing/directory_environment.ts";
import { onboarded } from "../changes/onboarded.ts";
import { browserOf, signedIn } from "./visited.ts";

const SHOP = "/console/participants/SHOP";

Deno.test("the console is on the administrators' listener alone [DRC1, E6]", async () => {
  await using env = await onboarded();
  for (const path of ["/console", "/console/sign-in", "/console/assets/console.css", SHOP]) {
    const answer = await env.publicFetch(new Request(`${ISSUER}${path}`));
    assertEquals([answer.status, answer.headers.get("content-type")], [404, "application/json"], path);
  }
});

Deno.test("pages need a session, and lead there after the sign-in [DRC2]", async () => {
  await using env = await onboarded();
  const browser = browserOf(env);
  for (const path of ["/console", SHOP, `${SHOP}/files/statement`, `${SHOP}/status`]) {
    const page = await browser.get(path);
    const query = new URLSearchParams({ next: path });
    assertEquals([page.status, page.headers.get("location")], [303, `/console/sign-in?${query}`]);
  }
  const there = await signedIn(env, SHOP);
  assertEquals((await there.get(SHOP)).status, 200);
});

Deno.test("wrong tokens are rejected and slowed down; a revoked one ends its session [DRC2]", async () => {
  const { credential, token } = await newCredential(ADMINISTRATORS, { name: "luis" }, START);
  let isRevoked = false;
  const administrators = openCredentials(ADMINISTRATORS, {
    version: () => Promise.resolve(String(isRevoked)),
    text: () => {
      const revoked = isRevoked ? { revoked_at: new Date(START).toISOString() } : {};
      return Promise.resolve(JSON.stringify({ administrators: [{ ...credential, ...revoked }] }));
    },
  }, () => START);
  await using env = await openDirectoryEnvironment({ administrators });
  const browser = browserOf(env);
  const statuses: number[] = [];
  for (let guess = 0; guess < 12; guess++) {
    statuses.push((await browser.submit("/console/sign-in", { token: `${token}x` })).status);
  }
  assertEquals(statuses, [...Array(10).fill(403), 429, 429]);
  assertEquals((await browser.submit("/console/sign-in", { token })).status, 303);
  assertStringIncludes((await browser.get("/console")).html, "<bdi>luis</bdi>");
  isRevoked = true;
  assertEquals((await browser.get("/console")).status, 303);
});

Deno.test("cookies are HttpOnly, Strict and, with https, bound to the host; pages are not cached, framed or scripted [DRC2]", async () => {
  await using env = await openDirectoryEnvironment({ console: { url: "https://directory-admin.example" } });
  const browser = await signedIn(env);
  const [session = ""] = browser.set.filter((cookie) => cookie.startsWith("__Host-directory-session="));
  assertEquals(session.split("; ").slice(1).toSorted(), ["HttpOnly", "Path=/", "SameSite=Strict", "Secure"]);
  const { headers, html } = await browser.get("/console");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("x-frame-options"), "DENY");
  assertMatch(
    headers.get("content-security-policy") ?? "",
    /^default-src 'none'; style-src 'self';.*frame-ancestors 'none'$/,
  );
  assert(!/<script|style=|onclick/.test(html));
});

Deno.test("the first page lists participants and finds them by name or id [DRC3]", async () => {
  await using env = await onboarded();
  await env.admin("POST", "/participants", await bank([2, 3], { org_name: "<i>Bank</i>" }));
  const browser = await signedIn(env);
  const names = async (search: string): Promise<string[]> => {
    const { html } = await browser.get(`/console?${new URLSearchParams({ search })}`);
    return [...html.matchAll(/href="\/console\/participants\/([^"]+)"/g)].map(([, id = ""]) => id);
  };
  assertEquals(await names(""), ["BANKA", "SHOP"]);
  assertEquals(await names("shop lim"), ["SHOP"]);
  assertEquals(await names("banka"), ["BANKA"]);
  assertEquals(await names("nobody"), []);
  const { html } = await browser.get("/console");
  assertStringIncludes(html, "&lt;i&gt;Bank&lt;/i&gt;");
});

Deno.test("the first page sorts by name, or by the end of the statement, and marks what ends soon [DRC3]", async () => {
  await using env = await onboarded();
  env.now += 86_400_000;
  await env.admin("POST", "/participants", await bank([2, 3], { org_name: "A Bank" }));
  const browser = await signedIn(env);
  const shown = async (path: string): Promise<string> => (await browser.get(path)).html;
  const names = (html: string): string[] =>
    [...html.matchAll(/href="\/console\/participants\/([^"]+)"/g)].map(([, id = ""]) => id);
  assertEquals(names(await shown("/console")), ["BANKA", "SHOP"]);
  const byEnd = await shown("/console?sort=end");
  assertEquals(names(byEnd), ["SHOP", "BANKA"]);
  assertMatch(byEnd, /aria-sort="ascending"><a href="\/console\?sort=end"/);
  assertEquals(byEnd.includes("Expires soon"), false);
  env.now += 340 * 86_400_000;
  const later = await signedIn(env);
  assertStringIncludes((await later.get("/console")).html, "Expires soon");
});

Deno.test("the page of a participant shows keys with their ends, the statement, contacts and the history [DRC3]", async () => {
  await using env = await onboarded();
  const { keys } = (await env.admin("GET", "/participants/SHOP")).body;
  await env.admin("POST", `/participants/SHOP/keys/${keys[0]?.kid}/revoke`, { reason: "lost" });
  const browser = await signedIn(env);
  const { html } = await browser.get(SHOP);
  for (
    const words of [
      "Shop Limited",
      keys[1]?.kid,
      "5 March 2027",
      "Revoked",
      "lost",
      "ana@shop.example",
      "Onboarded",
      "Key revoked",
      "<bdi>ana</bdi>",
      "Issued on ",
    ]
  ) assertStringIncludes(html, words);
  assert(!html.includes("Expires soon"));
  env.now = Date.parse(keys[1]?.not_after ?? "") - 29 * 86_400_000;
  assertStringIncludes((await (await signedIn(env)).get(SHOP)).html, "Expires soon");
});

Deno.test("the page of a participant shows 200 entries of its history, newest first, and leads to the older ones [DRC3, DRC12]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const older = "?before=";
  const read = async (after = ""): Promise<DirectoryHistory> =>
    (await env.admin("GET", `/participants/SHOP/history${after}`)).body;
  for (let count = 1; count < 200; count++) {
    env.now += 1000;
    await env.admin("POST", "/participants/SHOP/statement");
  }
  const full = (await browser.get(SHOP)).html;
  assertEquals([full.includes("Onboarded"), full.includes(older)], [true, false]);
  const whole = await read();
  assertEquals([whole.history.length, whole.after], [200, "199"]);
  assertEquals(await read("?after=199"), { history: [], is_intact: true }, "the end");
  env.now += 1000;
  await env.admin("POST", "/participants/SHOP/statement");
  const { html } = await browser.get(SHOP);
  assertEquals([html.includes("Onboarded"), html.includes(older)], [false, true]);
  assertEquals(html.split("Statement issued").length - 1, 200);
  assertStringIncludes(html, `${env.now / 1000}`);
  const link = /href="([^"]+\?before=\d+)"/.exec(html)?.[1] ?? "";
  const oldest = (await browser.get(link)).html;
  assertEquals([link, oldest.split("Onboarded").length - 1], [`${SHOP}?before=1`, 1]);
  assert(!oldest.includes("Statement issued<") && !/before=\d+"/.test(oldest), "no entry is shown twice");
  const [first, second] = [await read(), await read("?after=199")];
  assertEquals([first.history.length, second.history.length, second.after], [200, 1, undefined]);
  const numbers = [...first.history, ...second.history].map(({ sequence }) => sequence);
  assertEquals(numbers, Array.from({ length: 201 }, (_, index) => index));
  for (const wrong of ["x", "-1", "", "1e3", "9".repeat(20)]) {
    assertEquals((await env.admin("GET", `/participants/SHOP/history?after=${wrong}`)).status, 400, wrong);
  }
  assertEquals((await browser.get(`${SHOP}?before=x`)).status, 200);
});

Deno.test("what does not exist has a page that says so, with the number of the request [DRC2]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  for (const path of ["/console/nowhere", "/console/participants/NOBODY", `${SHOP}/files/certificates/x`]) {
    const { status, html, headers } = await browser.get(path);
    assertEquals([status, headers.get("content-type")], [404, "text/html; charset=UTF-8"], path);
    assertStringIncludes(html, headers.get("x-request-id") ?? "no number");
    assertStringIncludes(headers.get("content-security-policy") ?? "", "style-src 'self'");
  }
});

Deno.test("an administrator downloads certificates, key set and authority [DRC3]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const browser = await signedIn(env);
  const { kid } = firstOf(body.jwks.keys);
  const certificate = await browser.get(`${SHOP}/files/certificates/${kid}`);
  assertEquals(certificate.html, body.certificates.signing);
  assertEquals(certificate.headers.get("content-disposition"), 'attachment; filename="signing.cert.pem"');
  assertEquals(JSON.parse((await browser.get(`${SHOP}/files/keys`)).html), body.jwks);
  assertEquals((await browser.get(`${SHOP}/files/authority`)).html, body.ca);
});

Deno.test("signing out ends the session for every copy of its cookie [DRC2]", async () => {
  await using env = await onboarded();
  const browser = await signedIn(env);
  const copy = browser.cookies.get("__Host-directory-session") ?? "";
  assert(copy.length > 100 && !copy.includes(ADMIN_TOKEN));
  const { html } = await browser.get("/console");
  const form_token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? "";
  assertEquals((await browser.post("/console/sign-out", { form_token })).status, 303);
  browser.cookies.set("__Host-directory-session", copy);
  assertEquals((await browser.get("/console")).status, 303);
});

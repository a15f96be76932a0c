/** The stored evidence of a customer's decision: when, who, why, and the hash of the page on which it was made. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import canonicalize from "canonicalize";
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { consentBody } from "testing/flows.ts";
import { type AtBank, authorise, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer, assertErrorAnswer, readForm, reportAccounts } from "testing/front_channel.ts";
import { type Environment, START } from "testing/environment.ts";
import { historyOf } from "testing/histories.ts";
import { asConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { readCase } from "../../../../src/platform/evidence/read_case.ts";
import type { AuditEntry } from "../../../../src/platform/evidence/evidence.ts";
import { readableBody } from "support/readable_body.ts";
import { test } from "support/environment_test.ts";

const BODY = consentBody({
  initiation: { RemittanceInformation: { Reference: "INVOICE-4711", Unstructured: "Für Sie" } },
});

test("POST authorization.consent.oauth2 keeps time, actor, reason and the hash of the page in the consent's history [AZ13] [CT7] [CT9]", async ({ env, t }) => {
  const ends = {
    accept: { event: "consent.Authorized", reason: "customer accepted", language: "en", query: "" },
    refuse: { event: "consent.Rejected", reason: "customer rejected", language: "fr", query: "&lang=fr" },
  };
  for (const [decision, { event, reason, language, query }] of Object.entries(ends)) {
    await t.step(`${decision} on the page in ${language}`, async () => {
      const { flow, screen } = await toScreen(env);
      const html = await (await flow.browser.open(`${screen}${query}`)).text();
      env.now += 90_000;
      await post(flow, html, decision);
      const entry = await lastEntry(env, flow);
      assertEquals([entry.at, entry.event, entry.actor, entry.reason], [env.now, event, "customer", reason]);
      const preimage = factsOnPage(env, env.now - 90_000 + 900_000, language);
      const page = await shownPage(env, flow);
      assertEquals(entry.page, { language, sha256: await sha256(canonicalize(page) ?? "") });
      const { accounts, ...facts } = page;
      assertEquals([canonicalize(facts), accounts.length], [preimage, 3]);
      for (
        const [, text] of preimage.matchAll(
          /"(?:legalName|name|clientId|clientUri|registrationNumber|reference|unstructured)":"(.*?)"/g,
        )
      ) {
        assertStringIncludes(html, text ?? "");
      }
      assertEquals(readForm(html).accounts, ["0", "1", "2"]); // `canPay` of the hashed facts
    });
  }
});

test("A page being read stands still: a newer registration changes neither it nor its hash [AZ13] [C11]", async ({ env }) => {
  const first = await toScreen(env);
  const begun = env.now;
  const before = await (await first.flow.browser.open(first.screen)).text();
  await renameClients(env);
  env.now += 1000;
  const after = await (await first.flow.browser.open(first.screen)).text();
  assertEquals(withoutMinutes(after), withoutMinutes(before));
  await assertCodeAnswer(await post(first.flow, after, "accept"));
  const { accounts: _, ...facts } = await shownPage(env, first.flow);
  assertEquals(canonicalize(facts), factsOnPage(env, begun + 900_000, "en"));
  const second = await toScreen(env);
  const renamed = await (await second.flow.browser.open(second.screen)).text();
  assertStringIncludes(renamed, "Renamed Ltd");
  await assertErrorAnswer(await post(second.flow, renamed, "refuse"), "access_denied");
  assertEquals((await shownPage(env, second.flow)).tpp.legalName, "Renamed Ltd");
});

test("A second click leaves no second decision in the history [CT7]", async ({ env }) => {
  const { flow, screen } = await toScreen(env);
  const html = await (await flow.browser.open(screen)).text();
  await Promise.all(["accept", "refuse", "accept"].map((decision) => post(flow, html, decision)));
  const decided = (await historyOf(env.store, flow.consentId)).filter(({ page }) => page !== undefined);
  assertEquals(decided.length, 1);
});

test("Where the platform showed no page, the history names none [CT5] [CT6]", async ({ env }) => {
  for (const options of [{ body: IMPLICIT }, { bank: env.bankB }]) {
    const flow = await toBank(env, options);
    await assertCodeAnswer(await authorise(env, flow), flow.bank.orgId);
    const history = await historyOf(env.store, flow.consentId);
    assertEquals(history.at(-1)?.event, "consent.Authorized");
    assert(history.every(({ page }) => page === undefined));
  }
});

async function toScreen(env: Environment): Promise<{ flow: AtBank; screen: string }> {
  const flow = await toBank(env, { body: BODY });
  await reportAccounts(env, flow);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  return { flow, screen: (await flow.browser.open(path)).headers.get("location") ?? "" };
}

/** Posts the form of this page, as a browser does. */
function post({ browser }: AtBank, html: string, decision: string): Promise<Response> {
  const { action, csrf } = readForm(html);
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return browser.open(action, { method: "POST", body });
}

async function lastEntry(env: Environment, { consentId }: AtBank): Promise<AuditEntry> {
  const entry = (await historyOf(env.store, consentId)).at(-1);
  if (entry === undefined) throw new Error("no history");
  return entry;
}

/** What tests read of a page that was shown. */
interface ShownPage {
  readonly accounts: readonly unknown[];
  readonly tpp: { readonly legalName: string };
}

/** The page that the evidence of the decision has. */
async function shownPage(env: Environment, { consentId }: AtBank): Promise<ShownPage> {
  const id = asConsentId(consentId);
  const file = id === undefined ? null : await readCase(env.store, id);
  const body = file?.entries.at(-1)?.items.find(({ item }) => item.kind === "decision")?.body;
  return (JSON.parse(new TextDecoder().decode(readableBody(body)?.bytes)) as { readonly page: ShownPage })
    .page;
}

/** RFC 8785 of the page's facts without accounts, by hand: members in order, without white space. */
function factsOnPage(env: Environment, expiresAt: number, language: string): string {
  return '{"amount":{"amount":"165.88","currency":"EUR"},' +
    '"bank":{"code":"BANKA","name":"Bank A plc"},' +
    `"expiresAt":${expiresAt},"language":"${language}",` +
    '"payee":{"identification":"FR1420041010050500013M02606","name":"ACME Inc","schemeName":"UK.OBIE.IBAN"},' +
    '"reference":"INVOICE-4711",' +
    `"tpp":{"clientId":"${env.tpp.clientId}","clientUri":"https://www.example.com/","legalName":"Example Shop Ltd",` +
    `"registeredSince":${START},"registrationNumber":"12345678","role":"PISP"},` +
    '"unstructured":"Für Sie"}';
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Stands in for the directory's next statements, by which names can change. */
async function renameClients(env: Environment): Promise<void> {
  const clients = (await env.snapshot()).filter(({ key }) => key[0] === "client" || key[0] === "bank");
  const writes = clients.map(({ key, value }) => ({
    kind: "set" as const,
    key,
    value: { ...Object(value), orgName: "Renamed Ltd" },
  }));
  assert(await env.store.commit({ checks: [], writes }));
}

function withoutMinutes(html: string): string {
  return html.replace(/<strong>\d+ minutes<\/strong>/, "");
}

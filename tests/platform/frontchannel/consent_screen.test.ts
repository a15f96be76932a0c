import { assertEquals, assertStringIncludes } from "@std/assert";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { clientToken, consentBody, good, type Json, push } from "testing/flows.ts";
import {
  type AtBank,
  authorize,
  Browser,
  codeOf,
  openHandover,
  redeem,
  toBank,
} from "testing/authorization_flow.ts";
import {
  ACCOUNTS,
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  BROWSER_HEADERS,
  consentStatus,
  headingOf,
  readForm,
  reportAccounts,
} from "testing/front_channel.ts";
import { onboard } from "testing/participants.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("GET authorization.consent.oauth2 shows who asks, for whom, how much, to whom, and the accounts [AZ13] [CT7]", async () => {
  await using env = await openEnvironment();
  const initiation = {
    RemittanceInformation: { Reference: "INVOICE-4711", Unstructured: "Thank you & goodbye" },
  };
  const { flow, screen } = await toScreen(env, { body: consentBody({ initiation }) });
  const answer = await assertNothingChanges(env, () => flow.browser.open(screen));
  const html = await answer.text();
  assertEquals([answer.status, headingOf(html)], [200, "Do you want to make this payment?"]);
  const words = wordsOf(html);
  const facts = [
    "Example Shop Ltd",
    env.tpp.clientId,
    "Bank A plc",
    "ACME Inc",
    "165.88",
    "INVOICE-4711",
    "Thank you &amp; goodbye",
  ];
  for (const fact of facts) assertStringIncludes(words, fact);
  const form = readForm(html);
  assertEquals(form.action, `${screen}&lang=en`); // answered in the language of the page
  assertEquals(form.accounts, ["0", "1", "2"]); // the second has a low balance
  for (const account of ACCOUNTS) assertStringIncludes(words, account.Identification.slice(0, 4));
  assertEquals(html.includes("<script"), false);
});

Deno.test("what the TPP wrote is attributed to it on the consent screen, and has no other place there [AZ13]", async () => {
  await using env = await openEnvironment();
  const words = ["✓ Name and account match (1)", "✓ Confirmed by your bank (2)", "✓ Verified payee (3)"];
  const [Name = "", Reference = "", Unstructured = ""] = words;
  const CreditorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Name };
  const initiation = { CreditorAccount, RemittanceInformation: { Reference, Unstructured } };
  const { flow, screen } = await toScreen(env, { body: consentBody({ initiation }) });
  const html = await (await flow.browser.open(screen)).text();
  const written = /<dl class="facts written">.*?<\/dl>|<div class="written".*?<\/dl><\/div>/gs;
  const [payee = "", more = "", ...rest] = html.match(written) ?? [];
  assertEquals(rest, []);
  assertStringIncludes(wordsOf(payee), "as written by Example Shop Ltd and not checked");
  assertStringIncludes(wordsOf(more), "Written by Example Shop Ltd, not checked:");
  assertStringIncludes(payee, Name);
  for (const word of [Reference, Unstructured]) assertStringIncludes(more, word);
  const elsewhere = html.replaceAll(written, "");
  assertEquals(words.filter((word) => elsewhere.includes(word)), []);
});

Deno.test("the consent screen names the TPP's registration number and leads back to its own page [AZ13]", async () => {
  await using env = await openEnvironment();
  const { flow, screen } = await toScreen(env);
  const html = await (await flow.browser.open(screen)).text();
  assertStringIncludes(wordsOf(html), "12345678"); // `registration_number` at onboarding
  const [, href, words = ""] = /<a class="back" href="([^"]*)">(.*?)<\/a>/.exec(html) ?? [];
  assertEquals([href, wordsOf(words)], ["https://www.example.com/", "Back to Example Shop Ltd"]);
});

Deno.test("GET authorization.consent.oauth2 is neither cached, framed, sniffed nor scripted; its form may lead anywhere over https [AZ12] [AZ13]", async () => {
  await using env = await openEnvironment();
  const { flow, screen } = await toScreen(env);
  const answer = await flow.browser.open(screen, { headers: { origin: "https://evil.example" } });
  assertEquals(answer.headers.get("content-type"), "text/html; charset=UTF-8");
  assertBrowserHeaders(answer, {
    ...BROWSER_HEADERS,
    "content-security-policy":
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' https:",
  });
  assertEquals(answer.headers.getSetCookie(), []);
  await answer.body?.cancel();
});

Deno.test("GET authorization.consent.oauth2 encodes what participants wrote [AZ-N16]", async () => {
  await using env = await openEnvironment();
  const probe = `<img src=x onerror=alert(1)>"'&amp;</form><script>alert(1)</script>`;
  const name = `Evil <b>& "Co" '</title> Ltd`;
  const keys = [10, 11] as const;
  const redirectUris = ["https://evil.example/callback"];
  const evil = await onboard(env, { name, role: "PISP", keys, redirectUris });
  const own = Object.assign(Object.create(env), { tpp: evil }) as Environment;
  const initiation = {
    CreditorAccount: {
      SchemeName: "UK.OBIE.IBAN",
      Identification: "FR1420041010050500013M02606",
      Name: probe.slice(0, 70),
    },
    RemittanceInformation: { Reference: `"><script>`, Unstructured: probe },
  };
  const { flow, screen } = await toScreen(own, {
    body: consentBody({ initiation }),
    form: { redirect_uri: redirectUris[0], state: probe },
  });
  const html = await (await flow.browser.open(`${screen}&lang=${encodeURIComponent(probe)}`)).text();
  for (const raw of ["<script", "<img", "<b>", "</title> Ltd", "&amp;</form>"]) {
    assertEquals(html.includes(raw), false, raw);
  }
  assertStringIncludes(html, "Evil &lt;b&gt;&amp; &quot;Co&quot; &#39;&lt;/title&gt; Ltd");
  assertStringIncludes(html, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;&lt;/form&gt;");
});

Deno.test("GET authorization.consent.oauth2 in the reader's language [AZ13]", async () => {
  await using env = await openEnvironment();
  const { flow, screen } = await toScreen(env);
  const french = await flow.browser.open(screen, { headers: { "accept-language": "fr-FR, en;q=0.5" } });
  assertStringIncludes(await french.text(), '<html lang="fr" dir="ltr">');
  const arabic = await flow.browser.open(`${screen}&lang=ar`);
  assertStringIncludes(await arabic.text(), '<html lang="ar" dir="rtl">');
});

Deno.test("POST authorization.consent.oauth2 accept: the chosen account, Authorized, one code that works [AZ13] [CT7] [AUT-04]", async () => {
  await using env = await openEnvironment();
  for (const account of ["0", "2"]) {
    const { flow, screen } = await toScreen(env);
    const answer = await decide(flow, screen, { decision: "accept", account });
    const code = await assertCodeAnswer(answer);
    const consent = await storedConsent(env, flow);
    assertEquals([consent.status, consent.selectedAccount], ["Authorized", ACCOUNTS[Number(account)]]);
    assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 200);
    await assertPage(await flow.browser.open(screen), 400, "finished");
    await assertPage(await authorize(flow.browser, env.tpp, flow.requestUri), 400, "link_unusable");
  }
});

Deno.test("POST authorization.consent.oauth2 reject: access_denied with state and iss, Rejected, no code [AZ-N13] [CT9] [AUT-11]", async () => {
  await using env = await openEnvironment();
  for (const account of [undefined, "0", "1", "99", "x"]) {
    const { flow, screen } = await toScreen(env);
    await assertErrorAnswer(await decide(flow, screen, { decision: "refuse", account }), "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
    await assertPage(await flow.browser.open(screen), 400, "finished");
  }
});

Deno.test("POST authorization.consent.oauth2 rejects a choice that is none, and the customer can choose again [AZ13] [CT7]", async (t) => {
  await using env = await openEnvironment();
  const other = { ...ACCOUNTS[2], Identification: "NL91ABNA0417164300", Currency: "USD" };
  const { flow, screen } = await toScreen(env, {}, [...ACCOUNTS, other]);
  const choices: Record<string, Record<string, string | undefined>> = {
    "no account": {},
    "an empty account": { account: "" },
    "an account that is not there": { account: "4" },
    "a negative account": { account: "-1" },
    "a fraction": { account: "0.0" },
    "hexadecimal": { account: "0x0" },
    "a space": { account: " 0" },
    "four digits": { account: "0000" },
    "a name": { account: "length" },
    "another currency": { account: "3" },
    "no decision": { decision: undefined, account: "0" },
    "an unknown decision": { decision: "ACCEPT", account: "0" },
  };
  await steps(t, choices, async (choice) => {
    const act = (): Promise<Response> => decide(flow, screen, { decision: "accept", ...choice });
    await assertPage(await assertNothingChanges(env, act), 400, "link_unusable");
  });
  await t.step("a field twice", async () => {
    const { csrf } = readForm(await (await flow.browser.open(screen)).text());
    const body = `csrf=${csrf}&decision=reject&decision=accept&account=0`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const act = (): Promise<Response> => flow.browser.open(screen, { method: "POST", headers, body });
    await assertPage(await assertNothingChanges(env, act), 400, "link_unusable");
  });
  await t.step("a good choice still counts", async () => {
    await assertCodeAnswer(await decide(flow, screen, { decision: "accept", account: "0" }));
  });
});

Deno.test("GET authorization.consent.oauth2 offers rejecting alone where no account can pay [AZ13]", async () => {
  await using env = await openEnvironment();
  const { flow, screen } = await toScreen(env, {}, [{ ...ACCOUNTS[0], Currency: "USD" }]);
  const html = await (await flow.browser.open(screen)).text();
  assertEquals(readForm(html).accounts, []);
  assertEquals([html.includes('value="accept"'), html.includes('value="refuse"')], [false, true]);
  const act = (): Promise<Response> => decide(flow, screen, { decision: "accept", account: "0" });
  await assertPage(await assertNothingChanges(env, act), 400, "link_unusable");
  await assertErrorAnswer(await decide(flow, screen, { decision: "refuse" }), "access_denied");
});

Deno.test("Two flows in one browser, each with its own cookie and form, end each in its own way [AZ11]", async () => {
  await using env = await openEnvironment();
  const first = await toScreen(env);
  const bound = await clientToken(env, env.tpp);
  const consent = (await toBank(env)).consentId;
  const form = { code_challenge: "H".repeat(42) + "A" };
  const { request_uri } = await good(push(env, consent, { form }), 201);
  const { browser } = first.flow;
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, request_uri));
  const second = {
    browser,
    bound,
    bank: env.bankA,
    consentId: consent,
    requestUri: request_uri,
    handover: claims,
  };
  const screen = await comeToScreen(env, second);
  await assertErrorAnswer(await decide(second, screen, { decision: "refuse" }), "access_denied");
  codeOf(await decide(first.flow, first.screen, { decision: "accept", account: "0" }));
  assertEquals([await consentStatus(env, first.flow), await consentStatus(env, second)], [
    "Authorized",
    "Rejected",
  ]);
});

async function toScreen(
  env: Environment,
  options: Parameters<typeof toBank>[1] = {},
  accounts: readonly object[] = ACCOUNTS,
): Promise<{ flow: AtBank; screen: string }> {
  const flow = await toBank(env, options);
  return { flow, screen: await comeToScreen(env, flow, accounts) };
}

async function comeToScreen(
  env: Environment,
  flow: AtBank,
  accounts: readonly object[] = ACCOUNTS,
): Promise<string> {
  await reportAccounts(env, flow, accounts);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  const screen = (await flow.browser.open(path)).headers.get("location");
  if (screen === null) throw new Error("the bank's return did not lead to the screen");
  return screen;
}

async function decide(
  { browser }: { browser: Browser },
  screen: string,
  fields: Record<string, string | undefined>,
): Promise<Response> {
  const { csrf } = readForm(await (await browser.open(screen)).text());
  const body = new URLSearchParams({ csrf });
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value);
  return await browser.open(screen, { method: "POST", body });
}

async function storedConsent(env: Environment, { consentId }: AtBank): Promise<Json> {
  return (await env.snapshot()).find(({ key }) => key[0] === "consent" && key[1] === consentId)?.value;
}

/** The page's text without its markup. */
function wordsOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
}

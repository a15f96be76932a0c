import { assertEquals, assertStringIncludes } from "@std/assert";
import { consentBody } from "testing/flows.ts";
import {
  ACCOUNTS,
  assertBrowserHeaders,
  BROWSER_HEADERS,
  headingOf,
  readForm,
} from "testing/front_channel.ts";
import { onboard } from "testing/participants.ts";
import { type Environment } from "testing/environment.ts";
import { toScreen } from "./consent_screens.ts";
import { unchanged } from "testing/store_contents.ts";
import { test } from "support/environment_test.ts";

test("GET authorization.consent.oauth2 shows who asks, for whom, how much, to whom, and the accounts [AZ13] [CT7]", async ({ env }) => {
  const initiation = {
    RemittanceInformation: { Reference: "INVOICE-4711", Unstructured: "Thank you & goodbye" },
  };
  const { flow, screen } = await toScreen(env, { body: consentBody({ initiation }) });
  const answer = await unchanged(env, () => flow.browser.open(screen));
  const html = await answer.text();
  assertEquals([answer.status, headingOf(html)], [200, "Do you want to make this payment?"]);
  const words = visibleText(html);
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

test("what the TPP wrote is attributed to it on the consent screen, and has no other place there [AZ13]", async ({ env }) => {
  const words = ["✓ Name and account match (1)", "✓ Confirmed by your bank (2)", "✓ Verified payee (3)"];
  const [Name = "", Reference = "", Unstructured = ""] = words;
  const CreditorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Name };
  const initiation = { CreditorAccount, RemittanceInformation: { Reference, Unstructured } };
  const { flow, screen } = await toScreen(env, { body: consentBody({ initiation }) });
  const html = await (await flow.browser.open(screen)).text();
  const written = /<dl class="facts written">.*?<\/dl>|<div class="written".*?<\/dl><\/div>/gs;
  const [payee = "", more = "", ...rest] = html.match(written) ?? [];
  assertEquals(rest, []);
  assertStringIncludes(visibleText(payee), "as written by Example Shop Ltd and not checked");
  assertStringIncludes(visibleText(more), "Written by Example Shop Ltd, not checked:");
  assertStringIncludes(payee, Name);
  for (const word of [Reference, Unstructured]) assertStringIncludes(more, word);
  const elsewhere = html.replaceAll(written, "");
  assertEquals(words.filter((word) => elsewhere.includes(word)), []);
});

test("the consent screen names the TPP's registration number and leads back to its own page [AZ13]", async ({ env }) => {
  const { flow, screen } = await toScreen(env);
  const html = await (await flow.browser.open(screen)).text();
  assertStringIncludes(visibleText(html), "12345678"); // `registration_number` at onboarding
  const [, href, words = ""] = /<a class="back" href="([^"]*)">(.*?)<\/a>/.exec(html) ?? [];
  assertEquals([href, visibleText(words)], ["https://www.example.com/", "Back to Example Shop Ltd"]);
});

test("GET authorization.consent.oauth2 is neither cached, framed, sniffed nor scripted; its form may lead anywhere over https [AZ12] [AZ13]", async ({ env }) => {
  const { flow, screen } = await toScreen(env);
  const answer = await flow.browser.open(screen, { headers: { origin: "https://evil.example" } });
  assertEquals(answer.headers.get("content-type"), "text/html; charset=UTF-8");
  assertBrowserHeaders(answer, {
    ...BROWSER_HEADERS,
    "content-security-policy":
      "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' https:",
  });
  assertEquals(answer.headers.getSetCookie(), []);
  await answer.body?.cancel();
});

test("GET authorization.consent.oauth2 encodes what participants wrote [AZ-N16]", async ({ env }) => {
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

test("GET authorization.consent.oauth2 in the reader's language [AZ13]", async ({ env }) => {
  const { flow, screen } = await toScreen(env);
  const french = await flow.browser.open(screen, { headers: { "accept-language": "fr-FR, en;q=0.5" } });
  assertStringIncludes(await french.text(), '<html lang="fr" dir="ltr">');
  const arabic = await flow.browser.open(`${screen}&lang=ar`);
  assertStringIncludes(await arabic.text(), '<html lang="ar" dir="rtl">');
});

/** The page's text without its markup. */
function visibleText(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
}

test("the consent screen tells the accounts of one number apart by secondary number and currency [AZ13] [BF7]", async ({ env }) => {
  const one = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  const accounts = [
    { ...one, Currency: "USD", SecondaryIdentification: "POCKET-USD" },
    { ...one, SecondaryIdentification: "POCKET-OWN" },
    { ...one, Currency: "EUR", SecondaryIdentification: "POCKET-EUR", Balance: "900.00" },
  ];
  const { flow, screen } = await toScreen(env, {}, accounts);
  const html = await (await flow.browser.open(screen)).text();
  const shown = visibleText(html);
  for (const words of ["POCKET-USD USD", "POCKET-OWN EUR", "POCKET-EUR"]) assertStringIncludes(shown, words);
  const choices = [...html.matchAll(/<input[^>]*type="radio"[^>]*>/g)].map(([input]) =>
    input.includes("disabled")
  );
  assertEquals(choices, [false, false, true], "an account without a currency has that of the payment");
});

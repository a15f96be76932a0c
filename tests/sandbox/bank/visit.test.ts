/** A customer's visit at a sandbox bank: each consent type from the platform's redirect to the return. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  ALICE_EUR_AT_BANKA,
  ALICE_EUR_AT_BANKB,
  ALICE_GBP_AT_BANKA,
  ALICE_GBP_AT_BANKB,
  ALICE_SAVINGS_AT_BANKA,
  ALICE_SAVINGS_AT_BANKB,
  BOB_EUR_AT_BANKA,
  BOB_EUR_AT_BANKB,
  CAROL_AT_BANKA,
  CAROL_AT_BANKB,
} from "../../../src/sandbox/bank/customers.ts";
import { transactionDigestOf } from "support/transaction_digest.ts";
import { AUTH_URL, START } from "testing/environment.ts";
import { ALICE, CAROL, CODE } from "support/bank_browser.ts";
import { arrive, type BanksEnvironment, openBanksEnvironment } from "support/banks_environment.ts";
import { consentCalls, consentFrom, openReturn, outcome } from "support/bank_visits.ts";

const now = START / 1000;

/** What was PUT after the consent was read, and the header of its signature. */
async function report(env: BanksEnvironment): Promise<{ readonly data: unknown; readonly signed: unknown }> {
  const [read, put] = consentCalls(env);
  assertEquals([read?.method, put?.method, read?.url], ["GET", "PUT", put?.url]);
  const [header = ""] = put?.headers.get("x-jws-signature")?.split(".") ?? [];
  const signed = new TextDecoder().decode(Uint8Array.fromBase64(header, { alphabet: "base64url" }));
  return { data: Object(await put?.json()).Data, signed: JSON.parse(signed) };
}

Deno.test("implicit consent: the code page shows what is authorised and the return carries every claim", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser, body, handover } = await arrive(env, { body: consentFrom(ALICE_EUR_AT_BANKA) });
  const { html } = await browser.submit("login", ALICE);
  for (
    const words of ["€165.88", "Demo &lt;Shop&gt;", "GB33 BUKB 2020 1555 5555 55", "FRESCO.21302.GFX.20"]
  ) {
    assertStringIncludes(html, words);
  }
  await browser.submit("otp", CODE);

  assertEquals(browser.shown.status, 303);
  const { jti, ...claims } = await openReturn(env, browser.shown.leftFor, env.bankA);
  assertMatch(String(jti), /^[0-9a-f-]{36}$/);
  assertEquals(claims, {
    iss: "BANKA",
    aud: AUTH_URL,
    iat: now,
    nbf: now,
    exp: now + 300,
    sub: "cust-alice",
    debtor_account_present: "true",
    ref_id: handover.ref_id,
    status: "success",
    correlation_id: handover.correlation_id,
    bank_id: "BANKA",
    status_code: "success",
    transaction_digest: transactionDigestOf(body),
  });
  assertEquals(consentCalls(env).map(({ method }) => method), ["GET"]); // Decision C11: no PUT for an implicit consent
});

Deno.test("implicit consent: an account of another customer ends in failure", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { body: consentFrom(BOB_EUR_AT_BANKA) });
  await browser.submit("login", ALICE);
  assertEquals(await outcome(env, browser), "failure debtor_account_not_owned cust-alice");
});

Deno.test("implicit consent: too little money on the account ends in insufficient_funds, once the customer has signed in [G7]", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { body: consentFrom(ALICE_SAVINGS_AT_BANKA) });
  assertStringIncludes((await browser.submit("login", ALICE)).html, 'id="otp"');
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "insufficient_funds insufficient_funds cust-alice");
});

Deno.test("platform's consent screen: all accounts are PUT with a profile A signature", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser, consentId } = await arrive(env);
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);

  assertEquals(await outcome(env, browser), "success success cust-alice");
  const { data, signed } = await report(env);
  assertEquals(data, {
    BankId: "BANKA",
    ConsentId: consentId,
    Sub: "cust-alice",
    DebtorAccount: [
      account(ALICE_EUR_AT_BANKA, "100000.00", "EUR"),
      account(ALICE_SAVINGS_AT_BANKA, "5.00", "EUR"),
      account(ALICE_GBP_AT_BANKA, "25000.00", "GBP"),
    ],
  });
  const claims = {
    "http://openbanking.org.uk/iat": now,
    "http://openbanking.org.uk/iss": "BANKA",
    "http://openbanking.org.uk/tan": "directory.example",
  };
  const crit = ["b64", ...Object.keys(claims)];
  assertEquals(signed, { alg: "PS256", kid: env.bankA.signing.kid, b64: false, ...claims, crit });
});

Deno.test("bank's own consent screen: the selected account alone is PUT with a profile B signature", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser, consentId } = await arrive(env, { bank: env.bankB });
  await browser.submit("login", ALICE);
  const { html } = await browser.submit("otp", CODE);
  assertStringIncludes(html, "Balance <bdi>€100,000.00</bdi>");
  assertStringIncludes(html, "Not enough money");
  assertEquals(browser.formFields("consent")["account"], `${ALICE_EUR_AT_BANKB} EUR`);
  await browser.submit("consent", { account: `${ALICE_GBP_AT_BANKB} GBP`, decision: "accept" });

  assertEquals(await outcome(env, browser, env.bankB), "success success cust-alice");
  const { data, signed } = await report(env);
  const DebtorAccount = [account(ALICE_GBP_AT_BANKB, "25000.00", "GBP")];
  assertEquals(data, { BankId: "BANKB", ConsentId: consentId, Sub: "cust-alice", DebtorAccount });
  const { b64, crit } = Object(signed);
  assertEquals([b64, crit], [
    undefined,
    ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`),
  ]);
});

Deno.test("platform's consent screen: one IBAN with two currencies is PUT as two accounts [BF7]", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  await browser.submit("login", CAROL);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "success success cust-carol");
  assertEquals(Object((await report(env)).data).DebtorAccount, [
    account(CAROL_AT_BANKA, "5.00", "GBP"),
    account(CAROL_AT_BANKA, "5000.00", "EUR"),
  ]);
});

Deno.test("bank's own consent screen: each currency of one IBAN can be chosen [BF7]", async () => {
  const choose = async (index: number): Promise<unknown> => {
    await using env = await openBanksEnvironment();
    const { visit: browser } = await arrive(env, { bank: env.bankB });
    await browser.submit("login", CAROL);
    const { html } = await browser.submit("otp", CODE);
    for (const words of ["£5.00", "€5,000.00", "in EUR"]) assertStringIncludes(html, words);
    const choices = [...html.matchAll(/type="radio" name="account" value="([^"]+)"/g)].map(([, value = ""]) =>
      value
    );
    assertEquals(browser.formFields("consent")["account"], choices[1], "the one in the payment's currency");
    await browser.submit("consent", { account: choices[index] ?? "", decision: "accept" });
    assertEquals(await outcome(env, browser, env.bankB), "success success cust-carol");
    return Object((await report(env)).data).DebtorAccount;
  };
  assertEquals(await choose(0), [account(CAROL_AT_BANKB, "5.00", "GBP")]);
  assertEquals(await choose(1), [account(CAROL_AT_BANKB, "5000.00", "EUR")]);
});

Deno.test("implicit consent: an IBAN with two currencies pays from the payment's [BF7]", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { body: consentFrom(CAROL_AT_BANKA) });
  await browser.submit("login", CAROL);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "success success cust-carol", "GBP 5.00 would be too little");
});

Deno.test("bank's own consent screen: too little money on the selected account ends in insufficient_funds, and no account is PUT [G7]", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { bank: env.bankB });
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  await browser.submit("consent", { account: `${ALICE_SAVINGS_AT_BANKB} EUR`, decision: "accept" });
  const expected = "insufficient_funds insufficient_funds cust-alice";
  assertEquals(await outcome(env, browser, env.bankB), expected);
  assertEquals(consentCalls(env).map(({ method }) => method), ["GET"]);
});

Deno.test("bank's own consent screen: an account that is not the customer's is not taken", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env, { bank: env.bankB });
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  const { html } = await browser.submit("consent", {
    account: `${BOB_EUR_AT_BANKB} EUR`,
    decision: "accept",
  });
  assertStringIncludes(html, "Choose the account to pay from.");
  assertEquals(consentCalls(env).length, 1);
});

Deno.test("back channel calls carry the customer's headers", async () => {
  await using env = await openBanksEnvironment();
  const { visit: browser } = await arrive(env);
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  assertEquals(consentCalls(env).length, 2);
  for (const { headers } of consentCalls(env)) {
    assertMatch(headers.get("x-fapi-interaction-id") ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assertEquals(headers.get("x-fapi-auth-date"), "Sun, 15 Jan 2040 12:00:00 GMT");
    assertEquals(headers.get("x-fapi-customer-ip-address"), "203.0.113.7");
  }
  assertEquals(consentCalls(env)[1]?.headers.get("content-type"), "application/json");
});

Deno.test("the token is shared by calls, renewed before it expires, and replaced when rejected", async () => {
  await using env = await openBanksEnvironment();
  const tokens = (): number => env.bankRequests.filter(({ url }) => url.includes("/token.oauth2/")).length;
  await arrive(env);
  await arrive(env);
  assertEquals(tokens(), 1);
  env.now += 3_541_000;
  await arrive(env);
  assertEquals(tokens(), 2);
  let rejections = 1;
  const headers = { "www-authenticate": 'DPoP error="invalid_token"' };
  env.inPlaceOfPlatform = ({ url }) =>
    url.includes("/back-channel-auth/") && rejections-- > 0
      ? new Response(null, { status: 401, headers })
      : undefined;
  assertStringIncludes((await arrive(env)).visit.shown.html, 'id="login"');
  assertEquals(tokens(), 3);
});

function account(Identification: string, Balance: string, Currency: string): Record<string, string> {
  return { SchemeName: "UK.OBIE.IBAN", Identification, Balance, Currency };
}

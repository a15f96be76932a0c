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
import { ALICE, arrive, CAROL, CODE, outcome } from "support/bank_browser.ts";
import { AUTH_URL } from "support/bank_platform_double.ts";
import { bankEnvironment, CONSENT_ID, initiationOf, openReturn, START_MS } from "support/bank_environment.ts";

const now = START_MS / 1000;

Deno.test("implicit consent: the code page shows what is authorised and the return carries every claim", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA", ALICE_EUR_AT_BANKA);
  const { html } = await browser.submit("login", ALICE);
  for (const words of ["€1,210.00", "Demo &lt;Shop&gt;", "GB33 BUKB 2020 1555 5555 55", "ORDER-4711"]) {
    assertStringIncludes(html, words);
  }
  await browser.submit("otp", CODE);

  assertEquals(browser.shown.status, 303);
  const { jti, ...claims } = await openReturn(env, browser.shown.leftFor, "BANKA");
  assertMatch(String(jti), /^[0-9a-f-]{36}$/);
  assertEquals(claims, {
    iss: "BANKA",
    aud: AUTH_URL,
    iat: now,
    nbf: now,
    exp: now + 300,
    sub: "cust-alice",
    debtor_account_present: "true",
    ref_id: CONSENT_ID,
    status: "success",
    correlation_id: "correlation-1",
    bank_id: "BANKA",
    status_code: "success",
    transaction_digest: transactionDigestOf({ Data: { Initiation: initiationOf(ALICE_EUR_AT_BANKA) } }),
  });
  assertEquals(env.platform.calls.map(({ method }) => method), ["GET"]); // Decision C11: no PUT for an implicit consent
});

Deno.test("implicit consent: an account of another customer ends in failure", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA", BOB_EUR_AT_BANKA);
  await browser.submit("login", ALICE);
  assertEquals(await outcome(env, browser), "failure debtor_account_not_owned cust-alice");
});

Deno.test("implicit consent: too little money on the account ends in insufficient_funds, once the customer has signed in [G7]", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA", ALICE_SAVINGS_AT_BANKA);
  assertStringIncludes((await browser.submit("login", ALICE)).html, 'id="otp"');
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "insufficient_funds insufficient_funds cust-alice");
});

Deno.test("implicit consent: an IBAN with spaces in lower case is still the customer's", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA", "gb33 bukb 2020 1555 5555 55");
  assertStringIncludes((await browser.submit("login", ALICE)).html, 'id="otp"');
});

Deno.test("platform's consent screen: all accounts are PUT with a profile A signature", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA");
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);

  assertEquals(await outcome(env, browser), "success success cust-alice");
  const put = env.platform.calls[1];
  assertEquals(put?.path, `/back-channel-auth/v1/${CONSENT_ID}`);
  assertEquals(put?.body, {
    Data: {
      BankId: "BANKA",
      ConsentId: CONSENT_ID,
      Sub: "cust-alice",
      DebtorAccount: [
        account(ALICE_EUR_AT_BANKA, "100000.00", "EUR"),
        account(ALICE_SAVINGS_AT_BANKA, "5.00", "EUR"),
        account(ALICE_GBP_AT_BANKA, "25000.00", "GBP"),
      ],
    },
  });
  assertEquals(put?.signatureHeader, {
    alg: "PS256",
    kid: "BANKA-sig-00000000000000000",
    b64: false,
    "http://openbanking.org.uk/iat": now,
    "http://openbanking.org.uk/iss": "BANKA",
    "http://openbanking.org.uk/tan": "localhost:8442",
    crit: [
      "b64",
      "http://openbanking.org.uk/iat",
      "http://openbanking.org.uk/iss",
      "http://openbanking.org.uk/tan",
    ],
  });
});

Deno.test("bank's own consent screen: the selected account alone is PUT with a profile B signature", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKB");
  await browser.submit("login", ALICE);
  const { html } = await browser.submit("otp", CODE);
  assertStringIncludes(html, "Balance <bdi>€100,000.00</bdi>");
  assertStringIncludes(html, "Not enough money");
  assertEquals(browser.formFields("consent")["account"], `${ALICE_EUR_AT_BANKB} EUR`);
  await browser.submit("consent", { account: `${ALICE_GBP_AT_BANKB} GBP`, decision: "accept" });

  assertEquals(await outcome(env, browser, "BANKB"), "success success cust-alice");
  const put = env.platform.calls[1];
  const DebtorAccount = [account(ALICE_GBP_AT_BANKB, "25000.00", "GBP")];
  assertEquals(put?.body, {
    Data: { BankId: "BANKB", ConsentId: CONSENT_ID, Sub: "cust-alice", DebtorAccount },
  });
  const { b64, crit } = Object(put?.signatureHeader);
  assertEquals([b64, crit], [
    undefined,
    ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`),
  ]);
});

Deno.test("platform's consent screen: one IBAN with two currencies is PUT as two accounts [BF7]", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA");
  await browser.submit("login", CAROL);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "success success cust-carol");
  assertEquals(Object(env.platform.calls[1]?.body).Data.DebtorAccount, [
    account(CAROL_AT_BANKA, "5.00", "GBP"),
    account(CAROL_AT_BANKA, "5000.00", "EUR"),
  ]);
});

Deno.test("bank's own consent screen: each currency of one IBAN can be chosen [BF7]", async () => {
  const choose = async (index: number): Promise<unknown> => {
    using env = await bankEnvironment();
    const browser = await arrive(env, "BANKB");
    await browser.submit("login", CAROL);
    const { html } = await browser.submit("otp", CODE);
    for (const words of ["£5.00", "€5,000.00", "in EUR"]) assertStringIncludes(html, words);
    const choices = [...html.matchAll(/type="radio" name="account" value="([^"]+)"/g)].map(([, value = ""]) =>
      value
    );
    assertEquals(browser.formFields("consent")["account"], choices[1], "the one in the payment's currency");
    await browser.submit("consent", { account: choices[index] ?? "", decision: "accept" });
    assertEquals(await outcome(env, browser, "BANKB"), "success success cust-carol");
    return Object(env.platform.calls[1]?.body).Data.DebtorAccount;
  };
  assertEquals(await choose(0), [account(CAROL_AT_BANKB, "5.00", "GBP")]);
  assertEquals(await choose(1), [account(CAROL_AT_BANKB, "5000.00", "EUR")]);
});

Deno.test("implicit consent: an IBAN with two currencies pays from the payment's [BF7]", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA", CAROL_AT_BANKA);
  await browser.submit("login", CAROL);
  await browser.submit("otp", CODE);
  assertEquals(await outcome(env, browser), "success success cust-carol", "GBP 5.00 would be too little");
});

Deno.test("bank's own consent screen: too little money on the selected account ends in insufficient_funds, and no account is PUT [G7]", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKB");
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  await browser.submit("consent", { account: `${ALICE_SAVINGS_AT_BANKB} EUR`, decision: "accept" });
  const expected = "insufficient_funds insufficient_funds cust-alice";
  assertEquals(await outcome(env, browser, "BANKB"), expected);
  assertEquals(env.platform.calls.map(({ method }) => method), ["GET"]);
});

Deno.test("bank's own consent screen: an account that is not the customer's is not taken", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKB");
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  const { html } = await browser.submit("consent", {
    account: `${BOB_EUR_AT_BANKB} EUR`,
    decision: "accept",
  });
  assertStringIncludes(html, "Choose the account to pay from.");
  assertEquals(env.platform.calls.length, 1);
});

Deno.test("back channel calls carry the customer's headers", async () => {
  using env = await bankEnvironment();
  const browser = await arrive(env, "BANKA");
  await browser.submit("login", ALICE);
  await browser.submit("otp", CODE);
  assertEquals(env.platform.calls.length, 2);
  for (const { headers } of env.platform.calls) {
    assertMatch(headers.get("x-fapi-interaction-id") ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assertEquals(headers.get("x-fapi-auth-date"), "Thu, 31 Jan 2030 12:00:00 GMT");
    assertEquals(headers.get("x-fapi-customer-ip-address"), "203.0.113.7");
  }
  assertEquals(env.platform.calls[1]?.headers.get("content-type"), "application/json");
});

Deno.test("the token is shared by calls, renewed before it expires, and replaced when rejected", async () => {
  using env = await bankEnvironment();
  await arrive(env, "BANKA");
  await arrive(env, "BANKA");
  assertEquals(env.platform.tokenRequests, ["BANKA"]);
  env.platform.nowMs += 3_541_000;
  await arrive(env, "BANKA");
  assertEquals(env.platform.tokenRequests, ["BANKA", "BANKA"]);
  let rejections = 1;
  env.platform.statusFor = () => rejections-- > 0 ? 401 : undefined;
  assertStringIncludes((await arrive(env, "BANKA")).shown.html, 'id="login"');
  assertEquals(env.platform.tokenRequests.length, 3);
});

function account(Identification: string, Balance: string, Currency: string): Record<string, string> {
  return { SchemeName: "UK.OBIE.IBAN", Identification, Balance, Currency };
}

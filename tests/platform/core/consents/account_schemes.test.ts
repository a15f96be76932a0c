/** Accepted account schemes and names. Text that a customer could mistake for the platform's own is rejected. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { bodyOf, firstOf, type ResourceError } from "testing/answers.ts";
import type { JsonObject } from "testing/jwts.ts";
import { idleReport, reportFor } from "testing/back_channel.ts";
import { call, clientToken, consentBody, createConsent, good, pay } from "testing/flows.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const WORDS = "✓ Name and account match. Confirmed by your bank";
const PAYEE = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Name: "ACME Inc" };

/** Sends a consent request and asserts that it changes no state. */
async function rejected(env: Environment, initiation: JsonObject): Promise<Response> {
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody({ initiation }));
  return await unchanged(
    env,
    () => call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", { body }),
  );
}

async function messageOf(response: Response): Promise<string> {
  return firstOf((await bodyOf<ResourceError>(response.clone())).Errors).Message;
}

test("a scheme that is not configured is rejected with the list of those that are, wherever an account is named [CON-18]", async ({ env }) => {
  const made = { SchemeName: "CO.Made.Up", Identification: WORDS };
  const creditor = await rejected(env, { CreditorAccount: { ...PAYEE, ...made } });
  assertEquals(
    await messageOf(creditor),
    "Is not a supported account scheme. Supported are: UK.OBIE.IBAN, UK.OBIE.BBAN, UK.OBIE.SortCodeAccountNumber, UK.OBIE.Paym, UK.OBIE.Wallet.",
  );
  const path = "Data.Initiation.CreditorAccount.SchemeName";
  await assertFaults(creditor, 400, [["Unsupported.Scheme", path]]);
  await assertFaults(await rejected(env, { DebtorAccount: made }), 400, [
    ["Unsupported.Scheme", "Data.Initiation.DebtorAccount.SchemeName"],
  ]);
  const flow = await toBank(env);
  const reported = await idleReport(env, flow, reportFor(flow, { DebtorAccount: [made] }));
  await assertFaults(reported, 400, [["Unsupported.Scheme", "Data.DebtorAccount[0].SchemeName"]]);
});

test("card numbers are accepted only by a deployment that lists them [CF20]", async ({ env }) => {
  const card = { ...PAYEE, SchemeName: "UK.OBIE.PAN", Identification: "4111111111111111" };
  const answer = await rejected(env, { CreditorAccount: card });
  assertStringIncludes(
    await messageOf(answer),
    "only if PLATFORM_ACCOUNT_SCHEMES of the operator lists UK.OBIE.PAN",
  );
  await assertFaults(answer, 400, [["Unsupported.Scheme", "Data.Initiation.CreditorAccount.SchemeName"]]);
  await using cards = await openEnvironment({
    environment: { PLATFORM_ACCOUNT_SCHEMES: "UK.OBIE.IBAN,UK.OBIE.PAN" },
  });
  const bound = await clientToken(cards, cards.tpp);
  await createConsent(cards, bound, consentBody({ initiation: { CreditorAccount: card } }));
});

test("a wallet is identified by letters, digits and a few marks, not by words [CON-18]", async ({ env }) => {
  for (const Identification of [WORDS, "Confirmed by your bank", "أكد", "✓"]) {
    const answer = await rejected(env, {
      CreditorAccount: { ...PAYEE, SchemeName: "UK.OBIE.Wallet", Identification },
    });
    assertStringIncludes(await messageOf(answer), "Must be a wallet identification");
    await assertFaults(answer, 400, [
      ["Unsupported.AccountIdentifier", "Data.Initiation.CreditorAccount.Identification"],
    ]);
  }
  const wallet = { ...PAYEE, SchemeName: "UK.OBIE.Wallet", Identification: "alice+shop@wallet.example" };
  const bound = await clientToken(env, env.tpp);
  await createConsent(env, bound, consentBody({ initiation: { CreditorAccount: wallet } }));
});

Deno.test("PLATFORM_ACCOUNT_SCHEMES adds a scheme with a format and leaves others out [CON-18]", async () => {
  const environment = { PLATFORM_ACCOUNT_SCHEMES: "UK.OBIE.IBAN, CO.Redeban.Account=digits:6-20" };
  await using env = await openEnvironment({ environment });
  const account = { SchemeName: "CO.Redeban.Account", Identification: "123456" };
  const flow = await authorised(env, {
    body: consentBody({ initiation: { CreditorAccount: { ...PAYEE, ...account } } }),
  });
  const paid = await good(pay(env, flow), 201);
  assertEquals(paid.Data.Initiation.CreditorAccount, { ...PAYEE, ...account });
  for (const Identification of ["12345", "1".repeat(21), "12345A", WORDS]) {
    const answer = await rejected(env, { CreditorAccount: { ...PAYEE, ...account, Identification } });
    assertEquals(await messageOf(answer), "Must have 6 to 20 digits.");
  }
  const left = await rejected(env, { CreditorAccount: { ...PAYEE, SchemeName: "UK.OBIE.Wallet" } });
  assertEquals(
    await messageOf(left),
    "Is not a supported account scheme. Supported are: UK.OBIE.IBAN, CO.Redeban.Account.",
  );
});

test("a name has a letter or digit that can be seen, and nothing that hides or turns text [CON-15]", async ({ env, t }) => {
  const cases = {
    "zero-width spaces": ["\u200b\u200b", "invisible"],
    "Hangul fillers, which are letters": ["\u3164\u115f", "invisible"],
    "joiners alone": ["\u200d\u200c", "letter or digit"],
    "combining marks alone": ["\u0301\u0302", "letter or digit"],
    "spaces": ["  \u00a0\u2003", "letter or digit"],
    "blank braille": ["\u2800", "letter or digit"],
    "a tick": ["✓", "letter or digit"],
    "a right-to-left override": ["\u202eemcA", "invisible"],
    "an isolate": ["\u2066Acme\u2069", "invisible"],
    "a line separator": ["Acme\u2028Confirmed by your bank", "invisible"],
    "a C1 control": ["Acme\u0085", "control"],
    "tag characters": ["Acme\u{e0041}", "invisible"],
    "private use": ["\ue000 Acme", "invisible"],
  };
  await steps(t, cases, async ([Name, why = ""]) => {
    const creditor = await rejected(env, { CreditorAccount: { ...PAYEE, Name } });
    assertStringIncludes(await messageOf(creditor), why);
    await assertFaults(creditor, 400, [["Field.Invalid", "Data.Initiation.CreditorAccount.Name"]]);
    const debtor = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819", Name };
    await assertFaults(await rejected(env, { DebtorAccount: debtor }), 400, [
      ["Field.Invalid", "Data.Initiation.DebtorAccount.Name"],
    ]);
  });
});

test("names of many scripts are accepted, joiners and emoji within them [CON-20]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const names = [
    "7",
    "متجر الشرق",
    "می\u200cخواهم",
    "श्री\u200dमान",
    "漢字商店",
    "Café 👩\u200d🍳 ❤\ufe0f",
    "e\u0301",
    "Tom & Jerry's <Shop>",
  ];
  for (const Name of names) {
    const { Data } = await createConsent(
      env,
      bound,
      consentBody({ initiation: { CreditorAccount: { ...PAYEE, Name } } }),
    );
    assertEquals(Data.Initiation.CreditorAccount.Name, Name);
  }
});

test("reference and message hold nothing that hides or turns text", async ({ env }) => {
  for (const member of ["Reference", "Unstructured"]) {
    const answer = await rejected(env, { RemittanceInformation: { [member]: "Order \u202e1001" } });
    assertStringIncludes(await messageOf(answer), "invisible");
    await assertFaults(answer, 400, [["Field.Invalid", `Data.Initiation.RemittanceInformation.${member}`]]);
  }
});

/** POST domestic-payment-consents: what it answers to good requests, and faults that it names. */
import { assertEquals, assertMatch } from "@std/assert";
import { type AnswerOf, type CreatedConsent, memberOf } from "testing/answers.ts";
import { type BoundToken, call, clientToken, consentBody, good } from "testing/flows.ts";
import { assertFaults, CONSENT_ID, type ExpectedFault, unchanged } from "testing/resource_answers.ts";
import { FULL_CONSENT, omitting } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { steps, stepsOf } from "support/steps.ts";
import { REQUIRED } from "./consent_members.ts";

const AT = "2040-01-15T12:00:00+00:00";

function post(env: Environment, bound: BoundToken, body: unknown): Promise<AnswerOf<CreatedConsent>> {
  return call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(body) });
}

/** Posts faulty bodies: each is rejected with exactly its faults, without state changes. */
function rejects(
  name: string,
  cases: () => readonly (readonly [string, unknown, readonly ExpectedFault[]])[],
): void {
  Deno.test(`POST domestic-payment-consents ${name}`, async (t) => {
    await using env = await openEnvironment();
    const bound = await clientToken(env, env.tpp);
    await stepsOf(t, cases(), ([step]) => step, async ([, body, faults]) => {
      await assertFaults(await unchanged(env, () => post(env, bound, body)), 400, faults);
    });
  });
}

Deno.test("POST domestic-payment-consents answers a minimal request with 201 AwaitingAuthorisation [CON-01]", async () => {
  await using env = await openEnvironment();
  const minimal = {
    Data: {
      Initiation: {
        InstructedAmount: { Amount: "0.01", Currency: "EUR" },
        CreditorAccount: { SchemeName: "UK.OBIE.Wallet", Identification: "w", Name: "n" },
      },
    },
    Risk: {},
  };
  const response = await post(env, await clientToken(env, env.tpp), minimal);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  const consent = await good(response, 201);
  const id = consent.Data.ConsentId;
  assertMatch(id, CONSENT_ID);
  assertEquals(consent, {
    Data: {
      ConsentId: id,
      CreationDateTime: AT,
      Status: "AwaitingAuthorisation",
      StatusUpdateDateTime: AT,
      Initiation: minimal.Data.Initiation,
    },
    Risk: {},
    Links: { Self: `${BASE_URL}/BANKA/domestic-payment-consents/v1/${id}` },
    Meta: {},
  });
});

Deno.test("POST domestic-payment-consents echoes a full request without payer's name, postal address and mobile number [CON-02] [CON-25]", async () => {
  await using env = await openEnvironment();
  const consent = await good(post(env, await clientToken(env, env.tpp), FULL_CONSENT), 201);
  const { Initiation, ReadRefundAccount, Authorisation, SCASupportData } = FULL_CONSENT.Data;
  assertEquals(consent, {
    Data: {
      ConsentId: consent.Data.ConsentId,
      CreationDateTime: AT,
      Status: "AwaitingAuthorisation",
      StatusUpdateDateTime: AT,
      ReadRefundAccount,
      Initiation: {
        ...omitting(Initiation, "CreditorPostalAddress", "SupplementaryData"),
        DebtorAccount: omitting(Initiation.DebtorAccount, "Name"),
      },
      Authorisation,
      SCASupportData,
    },
    Risk: FULL_CONSENT.Risk,
    Links: { Self: `${BASE_URL}/BANKA/domestic-payment-consents/v1/${consent.Data.ConsentId}` },
    Meta: {},
  });
});

Deno.test("POST domestic-payment-consents echoes exactly what was sent [CON-02]", async (t) => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const echoes: Record<string, readonly [string, unknown]> = {
    "an odd but good date-time form": ["Data.Authorisation.CompletionDateTime", "20400116T1030+02"],
    "an old scheme name": ["Data.Initiation.CreditorAccount", {
      SchemeName: "IBAN",
      Identification: "FR1420041010050500013M02606",
      Name: "ACME Inc",
    }],
    "letters of every script, and emoji [CON-20]": [
      "Data.Initiation.CreditorAccount.Name",
      "Åsa 株式会社 متجر 🥑",
    ],
    "inner and outer spaces": ["Data.Initiation.RemittanceInformation.Unstructured", "  two  spaces  "],
    "ReadRefundAccount No": ["Data.ReadRefundAccount", "No"],
    "an empty SCASupportData": ["Data.SCASupportData", {}],
    "an empty AddressLine": ["Risk.DeliveryAddress.AddressLine", []],
  };
  await steps(t, echoes, async ([path, value]) => {
    const consent = await good(post(env, bound, edited(FULL_CONSENT, path, value)), 201);
    const found = path.split(".").reduce<unknown>(memberOf, consent);
    assertEquals(found, value);
  });
});

Deno.test("POST domestic-payment-consents takes null identifications as absent ones [CON-20]", async () => {
  await using env = await openEnvironment();
  const nulls = { InstructionIdentification: null, EndToEndIdentification: null };
  const consent = await good(
    post(env, await clientToken(env, env.tpp), consentBody({ initiation: nulls })),
    201,
  );
  assertEquals(Object.keys(consent.Data.Initiation).sort(), ["CreditorAccount", "InstructedAmount"]);
});

rejects(
  "rejects each missing mandatory member with its Path [CON-03..12]",
  () => REQUIRED.map((path) => [path, without(FULL_CONSENT, path), [["Field.Missing", path]]]),
);

rejects("names every fault at once, in the order of their paths [CON-13]", () => [
  [
    "a missing name and a bad category code",
    edited(
      without(FULL_CONSENT, "Data.Initiation.CreditorAccount.Name"),
      "Risk.MerchantCategoryCode",
      "zzzz",
    ),
    [
      ["Field.Missing", "Data.Initiation.CreditorAccount.Name"],
      ["Field.Invalid", "Risk.MerchantCategoryCode"],
    ],
  ],
  [
    "a fault of each kind",
    [
      ["Data.Authorisation.CompletionDateTime", "2040-01-15T11:59:59Z"],
      ["Data.Initiation.InstructedAmount.Amount", "10"],
      ["Data.Initiation.InstructedAmount.Currency", "CHF"],
      ["Data.Initiation.CreditorAccount.Identification", "1128"],
      ["Data.Initiation.DebtorAccount.SchemeName", "UK.OBIE.Euro"],
      ["Data.Extra", 1],
    ].reduce<unknown>((body, [path, value]) => edited(body, String(path), value), FULL_CONSENT),
    [
      ["Field.InvalidDate", "Data.Authorisation.CompletionDateTime"],
      ["Field.Unexpected", "Data.Extra"],
      ["Unsupported.AccountIdentifier", "Data.Initiation.CreditorAccount.Identification"],
      ["Unsupported.Scheme", "Data.Initiation.DebtorAccount.SchemeName"],
      ["Field.Invalid", "Data.Initiation.InstructedAmount.Amount"],
      ["Unsupported.Currency", "Data.Initiation.InstructedAmount.Currency"],
    ],
  ],
  [
    "thirty unknown members: the first twenty",
    { ...FULL_CONSENT, ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, i])) },
    Array.from({ length: 20 }, (_, i) => ["Field.Unexpected", `x${i}`]),
  ],
]);

rejects(
  "rejects a debtor who pays himself, under either name of the scheme [CF12]",
  () =>
    ["IBAN", "UK.OBIE.IBAN"].map((SchemeName) => [
      SchemeName,
      consentBody({
        initiation: { DebtorAccount: { SchemeName, Identification: "FR1420041010050500013M02606" } },
      }),
      [["Field.Invalid", "Data.Initiation.DebtorAccount"]],
    ]),
);

rejects(
  "rejects what is no JSON object [CON-20]",
  () => [[], "text", 5, null, true].map((body) => [JSON.stringify(body), body, [["Resource.InvalidFormat"]]]),
);

/**
 * POST domestic-payment-consents: what it answers to good requests, and faults that it names. GET
 * domestic-payment-consents/{id}: what it shows, to whom, and what time does to a consent.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { type AnswerOf, type Consent, type CreatedConsent, memberOf } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  createConsent,
  dpopKey,
  good,
  pay,
} from "testing/flows.ts";
import { assertFaults, CONSENT_ID, errorBody, type ExpectedFault } from "testing/resource_answers.ts";
import { FULL_CONSENT, omitting } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { REQUIRED } from "./consent_members.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { read } from "./read_consent.ts";
import { unchanged } from "testing/store_contents.ts";

const AT = "2040-01-15T12:00:00+00:00";

function post(env: Environment, bound: BoundToken, body: unknown): Promise<AnswerOf<CreatedConsent>> {
  return call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(body) });
}

/** Posts faulty bodies: each is rejected with exactly its faults, without state changes. */
function rejects(
  name: string,
  cases: () => readonly (readonly [string, unknown, readonly ExpectedFault[]])[],
): void {
  test(`POST domestic-payment-consents ${name}`, async ({ env, t }) => {
    const bound = await clientToken(env, env.tpp);
    await stepsOf(t, cases(), ([step]) => step, async ([, body, faults]) => {
      await assertFaults(await unchanged(env, () => post(env, bound, body)), 400, faults);
    });
  });
}

test("POST domestic-payment-consents answers a minimal request with 201 AwaitingAuthorisation [CON-01]", async ({ env }) => {
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

test("POST domestic-payment-consents echoes a full request without payer's name, postal address and mobile number [CON-02] [CON-25]", async ({ env }) => {
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

test("POST domestic-payment-consents echoes exactly what was sent [CON-02]", async ({ env, t }) => {
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

test("POST domestic-payment-consents takes null identifications as absent ones [CON-20]", async ({ env }) => {
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

test("GET domestic-payment-consents/{id} shows the reduced set, without payer's name and ids [CON-23] [CON-25]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound, FULL_CONSENT)).Data;
  env.now += 1000;
  const { InstructedAmount, CreditorAccount, DebtorAccount, RemittanceInformation } =
    FULL_CONSENT.Data.Initiation;
  assertEquals(await good<Consent>(call(env, env.tpp, bound, `${CONSENTS}/${ConsentId}`), 200), {
    Data: {
      ConsentId,
      CreationDateTime: "2040-01-15T12:00:00+00:00",
      Status: "AwaitingAuthorisation",
      StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
      Initiation: {
        InstructedAmount,
        DebtorAccount: omitting(DebtorAccount, "Name"),
        CreditorAccount,
        RemittanceInformation,
      },
    },
    Risk: FULL_CONSENT.Risk,
    Links: { Self: `${BASE_URL}/BANKA/domestic-payment-consents/v1/${ConsentId}` },
    Meta: {},
  });
});

test("GET domestic-payment-consents/{id} shows no debtor data where the consent was made without [CON-23]", async ({ env }) => {
  const { consentId } = await authorised(env); // the customer chose an account at the bank
  const data = await read(env, consentId);
  assertEquals(data.Status, "Authorized");
  assertEquals(Object.keys(data.Initiation).sort(), ["CreditorAccount", "InstructedAmount"]);
});

test("GET domestic-payment-consents/{id} shows the status from creation to consumption [CON-23] [PAY-01]", async ({ env, t }) => {
  const flow = await toBank(env);
  const shows = async (status: string, at: string): Promise<void> => {
    const { Status, StatusUpdateDateTime, CreationDateTime } = await read(env, flow.consentId);
    assertEquals([Status, StatusUpdateDateTime], [status, at]);
    assertEquals(CreationDateTime, "2040-01-15T12:00:00+00:00");
  };
  await t.step("at the bank", () => shows("AwaitingAuthorisation", "2040-01-15T12:00:00+00:00"));
  env.now += 60_000;
  const code = codeOf(await authorise(env, flow));
  await t.step("authorised", () => shows("Authorized", "2040-01-15T12:01:00+00:00"));
  const token = await good(redeem(env, { consentId: flow.consentId, code }), 200);
  env.now += 60_000;
  const payment = { token: token.access_token, key: await dpopKey() };
  await good(pay(env, { ...flow, payment, body: consentBody() }), 201);
  env.now += 60_000;
  await t.step("consumed", () => shows("Consumed", "2040-01-15T12:02:00+00:00"));
});

test("GET domestic-payment-consents/{id} takes the id in upper case as the same UUID [CON-23]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const found = await good<Consent>(call(env, env.tpp, bound, `${CONSENTS}/${ConsentId.toUpperCase()}`), 200);
  assertEquals(found.Data.ConsentId, ConsentId);
});

test("resources that are unknown, malformed, another TPP's or another bank's are answered alike: Decision C2 in place of 404 and 403 [CON-24] [RG-N10] [RG-N13] [PAY-08]", async ({ env, t }) => {
  const own = await authorised(env);
  const paid = (await good(pay(env, own), 201)).Data.DomesticPaymentId;
  const atB = await authorised(env, { bank: env.bankB });
  const paidAtB = (await good(pay(env, atB), 201)).Data.DomesticPaymentId;
  const outsider = await clientToken(env, env.otherTpp);
  const bodies = new Set<string>();
  const isNowhere = async (name: string, path: string, caller = env.tpp): Promise<void> => {
    await t.step(name, async () => {
      const token = caller === env.tpp ? own.bound : outsider;
      const response = await unchanged(env, () => call(env, caller, token, path));
      const body = await errorBody(response, 400);
      assertEquals(body.Errors.map(({ ErrorCode }) => ErrorCode), ["UK.OBIE.Resource.NotFound"]);
      bodies.add(JSON.stringify({ ...body, Id: "" }));
    });
  };
  const ids: Record<string, readonly [consent: string, payment: string]> = {
    unknown: [crypto.randomUUID(), crypto.randomUUID()],
    "no UUID": ["12345", "12345"],
    "of the other kind": [paid, own.consentId],
    "with an escaped slash": [`${own.consentId}%2F`, `${paid}%2F`],
    "with an escaped dot segment": ["..%2F" + own.consentId, "..%2F" + paid],
    "with NUL": [`${own.consentId}%00`, `${paid}%00`],
    "very long": ["a".repeat(1900), "a".repeat(1900)],
    "at another bank": [atB.consentId, paidAtB],
  };
  for (const [name, [consent, payment]] of Object.entries(ids)) {
    await isNowhere(`consent ${name}`, `${CONSENTS}/${consent}`);
    await isNowhere(`funds of a consent ${name}`, `${CONSENTS}/${consent}/funds-confirmation`);
    await isNowhere(`payment ${name}`, `/BANKA/domestic-payments/v1/${payment}`);
  }
  await isNowhere("consent of another TPP", `${CONSENTS}/${own.consentId}`, env.otherTpp);
  await isNowhere("funds of another TPP", `${CONSENTS}/${own.consentId}/funds-confirmation`, env.otherTpp);
  await isNowhere("payment of another TPP", `/BANKA/domestic-payments/v1/${paid}`, env.otherTpp);
  await t.step("all in the same words", () => assertEquals(bodies.size, 1));
  await t.step("dot segments lead elsewhere", async () => {
    const response = await call(env, env.tpp, own.bound, `${CONSENTS}/x/%2e%2e/${own.consentId}`);
    assertEquals(response.status, 200); // RFC 3986 §6.2.2.3: this is the consent's own address
    const above = await call(env, env.tpp, own.bound, `${CONSENTS}/../${own.consentId}`);
    assertEquals(above.status, 404);
  });
});

/**
 * `GET back-channel-auth/{ConsentId}`: the fields that a bank reads of a consent; other callers read none (contract
 * EP11).
 */
import { assertEquals } from "@std/assert";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  dpopKey,
  good,
  pay,
  requestToken,
  type SentConsent,
} from "testing/flows.ts";
import { type ConsentDetails, rejectionOf } from "testing/answers.ts";
import {
  assertIndistinguishable,
  assertNotFound,
  bankCall,
  consentPath,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
} from "testing/back_channel.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertBare, assertChallenge, assertCommonHeaders, assertFaults } from "testing/resource_answers.ts";
import { type Environment, START } from "testing/environment.ts";
import { thumbprint } from "testing/jwts.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { unchanged } from "testing/store_contents.ts";

async function consentOf(
  env: Environment,
  body: SentConsent = consentBody(),
  bank = "BANKA",
): Promise<string> {
  return (await createConsent(env, await clientToken(env, env.tpp, bank), body, bank)).Data.ConsentId;
}

test("GET back-channel-auth gives a minimal consent, absent ids as null [BCH-01]", async ({ env }) => {
  const initiation = { InstructionIdentification: undefined, EndToEndIdentification: undefined };
  const consentId = await consentOf(env, consentBody({ initiation }));
  const response = await idleBankCall(env, env.bankA, consentPath(consentId));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertEquals(await response.json(), {
    Data: {
      ReadRefundAccount: "No",
      Initiation: {
        InstructionIdentification: null,
        EndToEndIdentification: null,
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
        CreditorAccount: {
          SchemeName: "UK.OBIE.IBAN",
          Identification: "FR1420041010050500013M02606",
          Name: "ACME Inc",
        },
      },
    },
    Risk: {},
  });
});

test("GET back-channel-auth gives a full consent, the payer's name with it, and nothing that is not the bank's [BCH-01]", async ({ env }) => {
  const debtor = {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB33BUKB20201555555555",
    Name: "Alice Example",
    SecondaryIdentification: "SUB-7",
  };
  const risk = {
    PaymentContextCode: "EcommerceGoods",
    MerchantCategoryCode: "5967",
    MerchantCustomerIdentification: "053598653254",
    DeliveryAddress: {
      AddressLine: ["Flat 7"],
      StreetName: "Acacia Avenue",
      BuildingNumber: "27",
      PostCode: "GU31 2ZZ",
      TownName: "Sparsholt",
      CountrySubDivision: "Wessex",
      Country: "GB",
    },
  };
  const body = consentBody({
    initiation: {
      DebtorAccount: debtor,
      CreditorPostalAddress: { TownName: "Paris", Country: "FR" },
      RemittanceInformation: { Unstructured: "Internal ops code 5120101", Reference: "FRESCO-101" },
      SupplementaryData: { DebtorMobileNumber: "+447700900123" },
    },
    data: {
      ReadRefundAccount: "Yes",
      Authorisation: { AuthorisationType: "Single", CompletionDateTime: "2040-01-15T18:00:00+00:00" },
      SCASupportData: { RequestedSCAExemptionType: "EcommerceGoods" },
    },
    risk,
  });
  const consentId = await consentOf(env, body);
  assertEquals(await good<ConsentDetails>(bankCall(env, env.bankA, consentPath(consentId)), 200), {
    Data: {
      ReadRefundAccount: "Yes",
      Initiation: {
        InstructionIdentification: "ACME412",
        EndToEndIdentification: "FRESCO.21302.GFX.20",
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
        DebtorAccount: debtor,
        CreditorAccount: {
          SchemeName: "UK.OBIE.IBAN",
          Identification: "FR1420041010050500013M02606",
          Name: "ACME Inc",
        },
      },
      Authorisation: { AuthorisationType: "Single" },
    },
    Risk: risk,
  });
});

test("GET back-channel-auth gives the same consent in each status [BCH-01]", async ({ env, t }) => {
  const flow = await authorised(env);
  const before = await good<ConsentDetails>(bankCall(env, env.bankA, consentPath(flow.consentId)), 200);
  assertEquals(Object.hasOwn(before.Data, "Status"), false);
  await t.step("Consumed", async () => {
    await good(pay(env, flow), 201);
    assertEquals(
      await good<ConsentDetails>(bankCall(env, env.bankA, consentPath(flow.consentId)), 200),
      before,
    );
  });
  await t.step("Rejected by its deadline", async () => {
    const consentId = await consentOf(env);
    env.now = START + 86_400_000;
    assertEquals(await good<ConsentDetails>(bankCall(env, env.bankA, consentPath(consentId)), 200), before);
  });
  await t.step("its id in capitals", async () => {
    const path = consentPath(flow.consentId.toUpperCase());
    assertEquals(await good(bankCall(env, env.bankA, path), 200), before);
  });
});

const UNKNOWN = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

test("GET back-channel-auth answers other banks' consents as if they did not exist [BCH-02] [RP-N25] [C2]", async ({ env }) => {
  const { bankA } = env;
  const atB = await consentOf(env, consentBody(), "BANKB");
  const answers: Response[] = [];
  for (const id of [atB, UNKNOWN, "not-a-uuid", `${UNKNOWN}0`, "%2e%2e%2f"]) {
    const response = await idleBankCall(env, bankA, consentPath(id));
    await assertNotFound(response.clone());
    answers.push(response);
  }
  await assertIndistinguishable(answers);
});

test("GET back-channel-auth rejects a TPP's token [BCH-02] [RG-N9]", async ({ env }) => {
  const consentId = await consentOf(env);
  const bound = await clientToken(env, env.tpp);
  const response = await unchanged(env, () => call(env, env.tpp, bound, consentPath(consentId)));
  await assertChallenge(response, 403, NOT_A_BANK);
});

test("GET back-channel-auth rejects another bank, whatever token it holds [BCH-02] [A3]", async ({ env, t }) => {
  const { bankB } = env;
  const consentId = await consentOf(env);
  await t.step("a token of its own address is none here", async () => {
    const response = await idleBankCall(env, bankB, consentPath(consentId));
    await assertChallenge(response, 401, NO_TOKEN_HERE);
  });
  await t.step("it gets none at this address", async () => {
    const response = await unchanged(env, () => requestToken(env, bankB, "BANKA"));
    assertEquals([response.status, (await rejectionOf(response)).error], [400, "invalid_scope"]);
  });
  await t.step("and had it one, it would be rejected", async () => {
    const key = await dpopKey();
    const token = "a-token-that-should-not-have-been-issued";
    await env.store.commit({
      checks: [],
      writes: [{
        kind: "set",
        key: ["access_token", await sha256(token)],
        value: {
          clientId: bankB.clientId,
          registration: 1,
          bank: "BANKA",
          scope: "bank",
          grant: "client_credentials",
          jkt: await thumbprint(key),
          expiresAt: env.now + 60_000,
        },
      }],
    });
    for (const path of [consentPath(consentId), "/BANKA/back-channel-payments/v1"]) {
      const response = await unchanged(env, () => call(env, bankB, { token, key }, path));
      await assertChallenge(response, 403, NOT_A_BANK);
    }
  });
});

test("GET back-channel-auth needs the bank's own certificate [BCH-02]", async ({ env, t }) => {
  const path = consentPath(await consentOf(env));
  await steps(t, { none: null, "a TPP's": env.tpp, "another bank's": env.bankB }, async (as) => {
    const response = await idleBankCall(env, env.bankA, path, { as });
    await assertChallenge(response, 401, NO_TOKEN_HERE);
  });
});

test("GET back-channel-auth: the FAPI headers are optional, echoed or ignored where good [RP-N26] [C10]", async ({ env, t }) => {
  const path = consentPath(await consentOf(env));
  await t.step("none of them", async () => {
    const response = await bankCall(env, env.bankA, path);
    assertEquals(response.status, 200);
    assertCommonHeaders(response);
  });
  await t.step("all of them", async () => {
    const headers = {
      "x-fapi-interaction-id": "93bac548-d2de-4546-b106-880a5018460d",
      "x-fapi-auth-date": "Sun, 15 Jan 2040 11:59:00 GMT",
      "x-fapi-customer-ip-address": "2001:db8::7",
      "x-fapi-financial-id": "anything",
    };
    const response = await bankCall(env, env.bankA, path, { headers });
    assertEquals(response.status, 200);
    assertEquals(response.headers.get("x-fapi-interaction-id"), "93bac548-d2de-4546-b106-880a5018460d");
  });
  const bad: Readonly<Record<string, readonly string[]>> = {
    "x-fapi-interaction-id": ["1", "93bac548-d2de-4546-b106-880a5018460", "<script>"],
    "x-fapi-auth-date": ["2040-01-15T11:59:00Z", "Sun, 15 Jan 2040 11:59:00", "yesterday"],
    "x-fapi-customer-ip-address": ["256.1.1.1", "10.0.0", "example.com"],
  };
  for (const [name, values] of Object.entries(bad)) {
    await stepsOf(t, values, (value) => `${name}: ${value}`, async (value) => {
      const headers = { [name]: value };
      const response = await idleBankCall(env, env.bankA, path, { headers });
      await assertFaults(response, 400, [["Header.Invalid", name]]);
    });
  }
});

test("back-channel-auth answers other methods 405 with Allow, and 406 where JSON is not wanted [BCH-01]", async ({ env, t }) => {
  const path = consentPath(await consentOf(env));
  await stepsOf(t, ["POST", "DELETE", "PATCH", "HEAD"], (method) => method, async (method) => {
    const response = await idleBankCall(env, env.bankA, path, { method });
    await assertBare(response, 405);
    assertEquals(response.headers.get("allow"), "GET, PUT");
  });
  await t.step("Accept: text/html", async () => {
    const headers = { accept: "text/html" };
    await assertBare(await idleBankCall(env, env.bankA, path, { headers }), 406);
  });
});

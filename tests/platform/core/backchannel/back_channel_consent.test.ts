/**
 * `GET back-channel-auth/{ConsentId}`: the fields that a bank reads of a consent; other callers read none (contract
 * EP11).
 */
import { assertEquals } from "@std/assert";
import { clientToken, consentBody, createConsent, good, pay, type SentConsent } from "testing/flows.ts";
import type { ConsentDetails } from "testing/answers.ts";
import { bankCall, consentPath, idleBankCall } from "testing/back_channel.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertCommonHeaders } from "testing/resource_answers.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";

async function consentOf(
  env: Environment,
  body: SentConsent = consentBody(),
  bank = "BANKA",
): Promise<string> {
  return (await createConsent(env, await clientToken(env, env.tpp, bank), body, bank)).Data.ConsentId;
}

Deno.test("GET back-channel-auth gives a minimal consent, absent ids as null [BCH-01]", async () => {
  await using env = await openEnvironment();
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

Deno.test("GET back-channel-auth gives a full consent, the payer's name with it, and nothing that is not the bank's [BCH-01]", async () => {
  await using env = await openEnvironment();
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

Deno.test("GET back-channel-auth gives the same consent in each status [BCH-01]", async (t) => {
  await using env = await openEnvironment();
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

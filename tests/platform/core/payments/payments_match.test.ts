/** POST domestic-payments against its consent: every leaf that differs is told, and the consent stays usable. */
import { assertEquals } from "@std/assert";
import { type Consent, memberOf } from "testing/answers.ts";
import { call, consentBody, good, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertFaults, unchanged } from "testing/resource_answers.ts";
import { FULL_CONSENT, leavesOf } from "testing/resource_bodies.ts";
import { CONSENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { steps } from "support/steps.ts";

/** Other good values for the leaves whose form leaves little choice; elsewhere a letter more does. */
const OTHER: Readonly<Record<string, string>> = {
  "Data.Initiation.InstructedAmount.Amount": "19.91",
  "Data.Initiation.InstructedAmount.Currency": "USD",
  "Data.Initiation.DebtorAccount.SchemeName": "IBAN",
  "Data.Initiation.DebtorAccount.Identification": "GB33BUKB20201555555555",
  "Data.Initiation.CreditorAccount.SchemeName": "UK.OBIE.BBAN",
  "Data.Initiation.CreditorAccount.Identification": "11280001234568",
  "Data.Initiation.CreditorPostalAddress.AddressType": "Postal",
  "Data.Initiation.CreditorPostalAddress.Country": "GB",
  "Data.Initiation.SupplementaryData.DebtorMobileNumber": "+447700900124",
  "Risk.PaymentContextCode": "EcommerceServices",
  "Risk.MerchantCategoryCode": "5733",
  "Risk.DeliveryAddress.Country": "FR",
};
/** Fields that no response contains may be omitted from the payment (contract MT3). */
const MAY_BE_LEFT_OUT = [
  "Data.Initiation.DebtorAccount.Name",
  "Data.Initiation.CreditorPostalAddress",
  "Data.Initiation.SupplementaryData",
];
/** Cannot be left out without another fault. */
const REQUIRED =
  /InstructedAmount|CreditorAccount\.(SchemeName|Identification|Name)|DebtorAccount\.(SchemeName|Identification)|DeliveryAddress\.(TownName|Country)/;

function mismatch(...paths: string[]): readonly (readonly [string, string])[] {
  return paths.map((path) => ["Resource.ConsentMismatch", path] as const);
}

Deno.test("POST domestic-payments is told every leaf that it changes, and the consent stays Authorized [PAY-02] [RP10]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env, { body: FULL_CONSENT });
  const body = paymentBody(flow.consentId, FULL_CONSENT);
  const rejected = async (name: string, sent: unknown, ...paths: string[]): Promise<void> => {
    await t.step(name, async () => {
      const response = await unchanged(env, () => pay(env, flow, { body: JSON.stringify(sent) }));
      await assertFaults(response, 400, mismatch(...paths));
    });
  };
  const leaves = leavesOf(body).filter((path) => path !== "Data.ConsentId");
  await t.step("a full consent has 37 leaves that count", () => assertEquals(leaves.length, 37));
  for (const path of leaves) {
    const value = path.split(/[.[\]]+/).filter((step) => step !== "").reduce<unknown>(memberOf, body);
    await rejected(`${path} changed`, edited(body, path, OTHER[path] ?? `${value}x`), path);
    if (REQUIRED.test(path) || path.endsWith("]") || MAY_BE_LEFT_OUT.some((free) => path.startsWith(free))) {
      continue;
    }
    await rejected(`${path} left out`, without(body, path), path);
  }
  const postal = "Data.Initiation.CreditorPostalAddress";
  await rejected(
    "a part of the postal address left out",
    without(body, `${postal}.TownName`),
    `${postal}.TownName`,
  );
  await rejected(
    "address lines in another order",
    edited(body, `${postal}.AddressLine`, ["Second floor", "1 High Street"]),
    `${postal}.AddressLine[0]`,
    `${postal}.AddressLine[1]`,
  );
  await rejected(
    "an address line more",
    edited(body, "Risk.DeliveryAddress.AddressLine", ["2 Low Street"]),
    "Risk.DeliveryAddress.AddressLine[1]",
  );
  await rejected(
    "two leaves at once",
    edited(
      edited(body, "Risk.MerchantCategoryCode", "5733"),
      "Data.Initiation.InstructedAmount.Amount",
      "19.91",
    ),
    "Data.Initiation.InstructedAmount.Amount",
    "Risk.MerchantCategoryCode",
  );
  await t.step("the consent is still Authorized", async () => {
    const consent = await good<Consent>(call(env, env.tpp, flow.bound, `${CONSENTS}/${flow.consentId}`), 200);
    assertEquals(consent.Data.Status, "Authorized");
  });
  await t.step("and pays", async () => {
    await good(pay(env, flow), 201);
  });
});

Deno.test("POST domestic-payments is told every leaf that it adds [PAY-02]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const body = paymentBody(flow.consentId, flow.body);
  const additions: Record<string, string> = {
    "Data.Initiation.CreditorAccount.SecondaryIdentification": "S",
    "Data.Initiation.RemittanceInformation.Reference": "R",
    "Data.Initiation.CreditorPostalAddress.TownName": "T",
    "Data.Initiation.SupplementaryData.DebtorMobileNumber": "+447700900123",
    "Risk.MerchantCategoryCode": "5732",
    "Risk.MerchantCustomerIdentification": "m",
  };
  await steps(t, additions, async (value, path) => {
    const sent = JSON.stringify(edited(body, path, value));
    const response = await unchanged(env, () => pay(env, flow, { body: sent }));
    await assertFaults(response, 400, mismatch(path));
  });
});

Deno.test("POST domestic-payments takes a payment rebuilt from the consent's answer: what no answer shows may be left out [PAY-02]", async (t) => {
  await using env = await openEnvironment();
  for (const left of [...MAY_BE_LEFT_OUT.map((path) => [path]), MAY_BE_LEFT_OUT]) {
    await t.step(left.length === 1 ? String(left[0]) : "all of it", async () => {
      const flow = await authorised(env, { body: FULL_CONSENT });
      const body = left.reduce<unknown>(without, paymentBody(flow.consentId, FULL_CONSENT));
      await good(pay(env, flow, { body: JSON.stringify(body) }), 201);
    });
  }
});

Deno.test("POST domestic-payments of an implicit consent wants its account named, by the very same words [PAY-02] [PAY-04]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env, { body: FULL_CONSENT });
  const account = "Data.Initiation.DebtorAccount";
  const body = without(paymentBody(flow.consentId, FULL_CONSENT), account);
  await t.step("left out", async () => {
    const response = await unchanged(env, () => pay(env, flow, { body: JSON.stringify(body) }));
    const leaves = ["SchemeName", "Identification", "SecondaryIdentification"];
    await assertFaults(response, 400, mismatch(...leaves.map((leaf) => `${account}.${leaf}`)));
  });
});

Deno.test("POST domestic-payments takes null for absent identifications [PAY-03]", async () => {
  await using env = await openEnvironment();
  const absent = { InstructionIdentification: undefined, EndToEndIdentification: undefined };
  const flow = await authorised(env, { body: consentBody({ initiation: absent }) });
  const nulls = { InstructionIdentification: null, EndToEndIdentification: null };
  await good(pay(env, { ...flow, body: consentBody({ initiation: nulls }) }), 201);
});

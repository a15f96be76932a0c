/**
 * POST domestic-payments against its consent: every leaf that differs is told, and the consent stays usable. Who may
 * make and read which payment: the consent it is for, and whose payment it is.
 */
import { assertEquals } from "@std/assert";
import { type Consent, type CreatedConsent, memberOf } from "testing/answers.ts";
import { call, clientToken, consentBody, createConsent, good, pay, paymentBody } from "testing/flows.ts";
import { authorised, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { FULL_CONSENT, leavesOf } from "testing/resource_bodies.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

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

test("POST domestic-payments is told every leaf that it changes, and the consent stays Authorized [PAY-02] [RP10]", async ({ env, t }) => {
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

test("POST domestic-payments is told every leaf that it adds [PAY-02]", async ({ env, t }) => {
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

test("POST domestic-payments takes a payment rebuilt from the consent's answer: what no answer shows may be left out [PAY-02]", async ({ env, t }) => {
  for (const left of [...MAY_BE_LEFT_OUT.map((path) => [path]), MAY_BE_LEFT_OUT]) {
    await t.step(left.length === 1 ? String(left[0]) : "all of it", async () => {
      const flow = await authorised(env, { body: FULL_CONSENT });
      const body = left.reduce<unknown>(without, paymentBody(flow.consentId, FULL_CONSENT));
      await good(pay(env, flow, { body: JSON.stringify(body) }), 201);
    });
  }
});

test("POST domestic-payments of an implicit consent wants its account named, by the very same words [PAY-02] [PAY-04]", async ({ env, t }) => {
  const flow = await authorised(env, { body: FULL_CONSENT });
  const account = "Data.Initiation.DebtorAccount";
  const body = without(paymentBody(flow.consentId, FULL_CONSENT), account);
  await t.step("left out", async () => {
    const response = await unchanged(env, () => pay(env, flow, { body: JSON.stringify(body) }));
    const leaves = ["SchemeName", "Identification", "SecondaryIdentification"];
    await assertFaults(response, 400, mismatch(...leaves.map((leaf) => `${account}.${leaf}`)));
  });
});

test("POST domestic-payments takes null for absent identifications [PAY-03]", async ({ env }) => {
  const absent = { InstructionIdentification: undefined, EndToEndIdentification: undefined };
  const flow = await authorised(env, { body: consentBody({ initiation: absent }) });
  const nulls = { InstructionIdentification: null, EndToEndIdentification: null };
  await good(pay(env, { ...flow, body: consentBody({ initiation: nulls }) }), 201);
});

const WRONG_STATUS = [["Resource.InvalidConsentStatus", "Data.ConsentId"]] as const;

test("POST domestic-payments pays a consent once, whatever keys are used [PAY-06] [RP-N19]", async ({ env }) => {
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  await assertFaults(await unchanged(env, () => pay(env, flow)), 400, WRONG_STATUS);
  const other = pay(env, flow, {
    body: JSON.stringify(edited(paymentBody(flow.consentId, flow.body), "Risk.MerchantCategoryCode", "5732")),
  });
  await assertFaults(await other, 400, WRONG_STATUS); // status before comparison
});

test("a token for a payment is never to be had for a consent that is not Authorized [PAY-06]", async ({ env, t }) => {
  const waiting = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const rejectedAtBank = await toBank(env);
  const failure = await returnPath(env, env.bankA, rejectedAtBank.handover, {
    claims: { status_code: "failure" },
  });
  await rejectedAtBank.browser.open(failure);
  const other = await authorised(env);
  for (
    const [name, consentId] of Object.entries({
      AwaitingAuthorisation: waiting,
      Rejected: rejectedAtBank.consentId,
    })
  ) {
    await t.step(`${name}: another consent's token is no help`, async () => {
      const response = await unchanged(env, () => pay(env, { ...other, consentId }));
      await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
    });
  }
});

test("POST domestic-payments knows no consent that is unknown, malformed, another TPP's or another bank's: Decision C2 [PAY-06]", async ({ env, t }) => {
  const mine = await authorised(env);
  const atB = await authorised(env, { bank: env.bankB });
  const theirs = (await good<CreatedConsent>(
    call(env, env.otherTpp, await clientToken(env, env.otherTpp), CONSENTS, {
      body: JSON.stringify(consentBody()),
    }),
    201,
  )).Data.ConsentId;
  const ids: Record<string, string> = {
    unknown: crypto.randomUUID(),
    malformed: "58923",
    "another TPP's": theirs,
    "another bank's": atB.consentId,
  };
  await steps(t, ids, async (consentId) => {
    const response = await unchanged(env, () => pay(env, { ...mine, consentId }));
    await assertFaults(response, 400, [["Resource.NotFound"]]);
  });
  await t.step("its own in upper case is its own", async () => {
    await good(pay(env, { ...mine, consentId: mine.consentId.toUpperCase() }), 201);
  });
});

test("GET domestic-payments/{id} is for the owner's token and the payment's own [PAY-08]", async ({ env, t }) => {
  const flow = await authorised(env);
  const made = await good(pay(env, flow), 201);
  for (
    const [name, token] of Object.entries({
      "client credentials": flow.bound,
      "authorization code": flow.payment,
    })
  ) {
    await t.step(name, async () => {
      assertEquals(
        await good(call(env, env.tpp, token, `${PAYMENTS}/${made.Data.DomesticPaymentId}`), 200),
        made,
      );
    });
  }
  await t.step("in upper case too", async () => {
    assertEquals(
      await good(
        call(env, env.tpp, flow.bound, `${PAYMENTS}/${made.Data.DomesticPaymentId.toUpperCase()}`),
        200,
      ),
      made,
    );
  });
  await t.step("not for the bank", async () => {
    const token = await clientToken(env, env.bankA);
    const response = await call(env, env.bankA, token, `${PAYMENTS}/${made.Data.DomesticPaymentId}`);
    await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
  });
});

/**
 * POST domestic-payments: what it answers, which account it may name, and what is kept of it. GET
 * domestic-payments?idempotency-key: the payment of a TPP that has lost the answer to its POST.
 */
import { assertEquals } from "@std/assert";
import { asConsentId, paymentIdOf } from "../../../../src/base/kernel/identifiers.ts";
import { bodyNamed } from "testing/histories.ts";
import { type Consent, type Payment, present } from "testing/answers.ts";
import {
  type BoundToken,
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  good,
  pay,
  paymentBody,
} from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { type JsonObject, payloadSignature } from "testing/jwts.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { FULL_CONSENT, omitting, reverseMembers } from "testing/resource_bodies.ts";
import { BASE_URL, type Environment } from "testing/environment.ts";
import { edited } from "../../guards/http/edited.ts";
import { type FaultyField, rejectsFields } from "../../guards/http/faulty_fields.ts";
import { steps } from "support/steps.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { readableBody } from "support/readable_body.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const AT = "2040-01-15T12:00:00+00:00";

test("POST domestic-payments answers a full payment with all of its initiation but the payer's name, which the refund account has [PAY-01] [PAY-07] [CON-25] [G4]", async ({ env }) => {
  const flow = await authorised(env, { body: FULL_CONSENT });
  const made = await good(pay(env, flow), 201);
  const id = made.Data.DomesticPaymentId;
  assertEquals(id, await paymentIdOf(present(asConsentId(made.Data.ConsentId))));
  const debtor = omitting(FULL_CONSENT.Data.Initiation.DebtorAccount, "Name");
  const expected = {
    Data: {
      DomesticPaymentId: id,
      ConsentId: flow.consentId,
      CreationDateTime: AT,
      Status: "AcceptedSettlementInProcess",
      StatusUpdateDateTime: AT,
      Refund: { Account: FULL_CONSENT.Data.Initiation.DebtorAccount },
      Charges: [],
      Initiation: { ...FULL_CONSENT.Data.Initiation, DebtorAccount: debtor },
    },
    Links: { Self: `${BASE_URL}/BANKA/domestic-payments/v1/${id}` },
    Meta: {},
  };
  assertEquals(made, expected);
  env.now += 1000;
  assertEquals(
    await good(call(env, env.tpp, flow.bound, `/BANKA/domestic-payments/v1/${id}`), 200),
    expected,
  );
});

test("POST domestic-payments answers a minimal payment with what was sent [PAY-01] [PAY-07]", async ({ env }) => {
  const flow = await authorised(env);
  const made = await good(pay(env, flow), 201);
  assertEquals(made.Data.Initiation, flow.body.Data.Initiation);
  assertEquals(Object.keys(made.Data).sort(), [
    "Charges",
    "ConsentId",
    "CreationDateTime",
    "DomesticPaymentId",
    "Initiation",
    "Status",
    "StatusUpdateDateTime",
  ]);
});

test("POST domestic-payments answers the refund account where it was asked for, and not otherwise [PAY-07]", async ({ env, t }) => {
  const implicit = {
    DebtorAccount: { ...DEBTOR_ACCOUNT, Name: "Alice Payer", SecondaryIdentification: "S-1" },
  };
  const cases: Record<string, readonly [{ data?: JsonObject; initiation?: JsonObject }, unknown]> = {
    "Yes, account chosen by the customer": [{ data: { ReadRefundAccount: "Yes" } }, DEBTOR_ACCOUNT],
    "Yes, account named by the TPP": [
      { data: { ReadRefundAccount: "Yes" }, initiation: implicit },
      implicit.DebtorAccount,
    ],
    "Yes, account named by the TPP without a name": [
      { data: { ReadRefundAccount: "Yes" }, initiation: { DebtorAccount: DEBTOR_ACCOUNT } },
      DEBTOR_ACCOUNT,
    ],
    "No": [{ data: { ReadRefundAccount: "No" }, initiation: implicit }, undefined],
    "not said": [{}, undefined],
  };
  await steps(t, cases, async ([changes, account]) => {
    const { data, ...rest } = changes;
    const body = consentBody(rest);
    const flow = await authorised(env, { body: { ...body, Data: { ...body.Data, ...data } } });
    const made = await good(pay(env, flow), 201);
    assertEquals(made.Data.Refund, account === undefined ? undefined : { Account: account });
  });
});

test("POST domestic-payments takes members in any order [PAY-03]", async ({ env }) => {
  const flow = await authorised(env, { body: FULL_CONSENT });
  const body = JSON.stringify(reverseMembers(paymentBody(flow.consentId, flow.body)));
  await good(pay(env, flow, { body }), 201);
});

test("POST domestic-payments of an explicit consent may name the selected account, and echoes what was named [PAY-04]", async ({ env, t }) => {
  const cases: Record<string, unknown> = {
    "as the bank named it": DEBTOR_ACCOUNT,
    "by the scheme's other name": { ...DEBTOR_ACCOUNT, SchemeName: "IBAN" },
  };
  await steps(t, cases, async (DebtorAccount) => {
    const flow = await authorised(env);
    const made = await good(pay(env, { ...flow, body: consentBody({ initiation: { DebtorAccount } }) }), 201);
    assertEquals(made.Data.Initiation.DebtorAccount, DebtorAccount);
  });
});

test("POST domestic-payments of an explicit consent may name no other account [PAY-04]", async ({ env, t }) => {
  const flow = await authorised(env);
  const account = "Data.Initiation.DebtorAccount";
  const cases: Record<string, readonly [unknown, string]> = {
    "another IBAN": [
      { ...DEBTOR_ACCOUNT, Identification: "GB29NWBK60161331926819" },
      `${account}.Identification`,
    ],
    "the same characters in another scheme": [
      { ...DEBTOR_ACCOUNT, SchemeName: "UK.OBIE.BBAN" },
      `${account}.SchemeName`,
    ],
    "with a part of it": [
      { ...DEBTOR_ACCOUNT, SecondaryIdentification: "S" },
      `${account}.SecondaryIdentification`,
    ],
  };
  await steps(t, cases, async ([DebtorAccount, path]) => {
    const body = consentBody({ initiation: { DebtorAccount } });
    const response = await unchanged(env, () => pay(env, { ...flow, body }));
    await assertFaults(response, 400, [["Resource.ConsentMismatch", path]]);
  });
  await t.step("and is paid without naming one", async () => {
    await good(pay(env, flow), 201);
  });
});

test("POST domestic-payments names faulty fields as a consent does [PAY-02] [CON-03..12] [CON-16] [CON-17] [CON-18] [CON-20] [RP-N23]", async ({ env, t }) => {
  const flow = await authorised(env, { body: FULL_CONSENT });
  const body = paymentBody(flow.consentId, FULL_CONSENT);
  const amount = "Data.Initiation.InstructedAmount.Amount";
  const required = ["Data", "Data.ConsentId", "Data.Initiation", amount, "Risk"];
  const fields: readonly FaultyField[] = [
    ...[...required, "Data.Initiation.CreditorAccount.Name"].map((path) =>
      [path, "Field.Missing", [undefined]] as const
    ),
    [amount, "Field.Invalid", ["1.000", "01.00", "10.5", 1, "1e2", "-1.00", "１.００"]],
    ["Data.Initiation.InstructedAmount.Currency", "Unsupported.Currency", ["JPY"]],
    ["Data.Initiation.CreditorAccount.SchemeName", "Unsupported.Scheme", ["zzzz"]],
    ["Data.Initiation.DebtorAccount.Identification", "Unsupported.AccountIdentifier", [
      "GB34BUKB20201555555555",
    ]],
    ["Data.Initiation.DebtorAccount", "Field.Invalid", [FULL_CONSENT.Data.Initiation.CreditorAccount]],
    ["Risk.PaymentContextCode", "Field.Invalid", ["zzzz"]],
    ["Data.ConsentId", "Field.Invalid", ["", "x".repeat(129), null, 5]],
    ["Data.ReadRefundAccount", "Field.Unexpected", ["Yes"]],
    ["Data.Authorisation", "Field.Unexpected", [{}, { AuthorisationType: "Any" }]],
    ["Extra", "Field.Unexpected", [1]],
  ];
  await rejectsFields(t, fields, (path, value) => {
    const sent = JSON.stringify(edited(body, path, value));
    return unchanged(env, () => pay(env, flow, { body: sent }));
  });
});

test("the signed bytes of a payment and of its consent are kept as evidence", async ({ env, t }) => {
  const flow = await authorised(env);
  const body = JSON.stringify(paymentBody(flow.consentId, flow.body), null, 3).padEnd(65_536);
  const signature = await payloadSignature(env, env.tpp, body, { profile: "A" });
  const made = await good(pay(env, flow, { body, signature }), 201);
  const evidence = readableBody(
    await bodyNamed(env.store, `${made.Data.DomesticPaymentId} 1 payment_request`),
  );
  await t.step("payment, 64 KiB", () => {
    assertEquals(evidence?.signature, signature);
    assertEquals(new TextDecoder().decode(evidence?.bytes), body);
  });
  await t.step("consent", async () => {
    const consent = readableBody(await bodyNamed(env.store, `${flow.consentId} 1 consent_request`));
    assertEquals(JSON.parse(new TextDecoder().decode(consent?.bytes)), flow.body);
  });
});

function find(
  env: Environment,
  token: BoundToken,
  key: string,
  caller = env.tpp,
  path = PAYMENTS,
): Promise<Response> {
  return call(env, caller, token, `${path}?${new URLSearchParams({ "idempotency-key": key })}`);
}

test("GET domestic-payments?idempotency-key finds what the key has made, by either token [PAY-08] [IDE-01]", async ({ env, t }) => {
  const flow = await authorised(env);
  const key = "a key & more/%20";
  const made = await good(pay(env, flow, { idempotencyKey: key }), 201);
  for (
    const [name, token] of Object.entries({
      "client credentials": flow.bound,
      "authorization code": flow.payment,
    })
  ) {
    await t.step(name, async () => {
      assertEquals(await good(await unchanged(env, () => find(env, token, key)), 200), made);
    });
  }
});

test("GET domestic-payments?idempotency-key finds nothing else, and says so in one way: Decision C2 [PAY-08] [IDE-04]", async ({ env, t }) => {
  const flow = await authorised(env);
  await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  await good(
    call(env, env.tpp, flow.bound, CONSENTS, { body: JSON.stringify(consentBody()), idempotencyKey: "c" }),
    201,
  );
  const outsider = await clientToken(env, env.otherTpp);
  const atB = await clientToken(env, env.tpp, "BANKB");
  const attempts: Record<string, () => Promise<Response>> = {
    "an unknown key": () => find(env, flow.bound, "K"),
    "an empty key": () => find(env, flow.bound, ""),
    "a key of 5000 characters": () => find(env, flow.bound, "k".repeat(5000)),
    "a key that made a consent": () => find(env, flow.bound, "c"),
    "another TPP's key": () => find(env, outsider, "k", env.otherTpp),
    "a key at another bank": () => find(env, atB, "k", env.tpp, PAYMENTS.replace("BANKA", "BANKB")),
  };
  await steps(t, attempts, async (attempt) => {
    await assertFaults(await unchanged(env, attempt), 400, [["Resource.NotFound"]]);
  });
});

test("GET domestic-payments?idempotency-key is not for another consent's token [RP-N18]", async ({ env }) => {
  await good(pay(env, await authorised(env), { idempotencyKey: "k" }), 201);
  const { payment } = await authorised(env);
  const response = await unchanged(env, () => find(env, payment, "k"));
  await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
});

test("GET domestic-payments?idempotency-key finds a payment for 24 h [IDE-10]", async ({ env }) => {
  const made = await good(pay(env, await authorised(env), { idempotencyKey: "k" }), 201);
  env.now += 86_399_999;
  assertEquals(
    (await good<Payment>(find(env, await clientToken(env, env.tpp), "k"), 200)).Data.DomesticPaymentId,
    made.Data.DomesticPaymentId,
  );
  env.now += 1;
  const late = await clientToken(env, env.tpp);
  await assertFaults(await find(env, late, "k"), 400, [["Resource.NotFound"]]);
});

test("GET domestic-payments?idempotency-key takes no parameter of the list, and no second key [LS-N2]", async ({ env }) => {
  const flow = await authorised(env);
  await good(pay(env, flow, { idempotencyKey: "one" }), 201);
  for (
    const [more, path] of [["from=2040-01-15T00:00:00Z", "from"], ["idempotency-key=two", "idempotency-key"]]
  ) {
    const query = `${PAYMENTS}?idempotency-key=one&${more}`;
    const response = await unchanged(env, () => call(env, env.tpp, flow.bound, query));
    assertEquals(response.status, 400, more);
    const { Errors } = await response.json() as { readonly Errors: readonly { readonly Path: string }[] };
    assertEquals(Errors.map(({ Path }) => Path), [path]);
  }
});

test("POST domestic-payments answers 201 AcceptedSettlementInProcess and consumes the consent [PAY-01]", async ({ env }) => {
  const flow = await authorised(env);
  const payment = await good(pay(env, flow), 201);
  assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
  assertEquals(payment.Data.ConsentId, flow.consentId);
  assertEquals(payment.Data.Charges, []);
  assertEquals(payment.Meta, {});
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  const consent = await good<Consent>(call(env, env.tpp, flow.bound, path), 200);
  assertEquals(consent.Data.Status, "Consumed");
});

test("POST domestic-payments works for an implicit consent and for the bank's own screen [PAY-01]", async ({ env }) => {
  const implicit = await authorised(env, {
    body: consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } }),
  });
  assertEquals((await pay(env, implicit)).status, 201);
  const atB = await authorised(env, { bank: env.bankB });
  assertEquals((await pay(env, atB)).status, 201);
});

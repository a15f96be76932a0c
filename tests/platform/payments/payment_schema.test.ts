/** The payment request: a consent id, and the same field rules as a consent's. */
import { assertEquals } from "@std/assert";
import { decodePaymentRequest } from "../../../src/platform/payments/payment_schema.ts";
import { CONTEXT, FULL_INITIATION, FULL_RISK } from "testing/bodies.ts";
import { edited, without } from "../http/edited.ts";
import { requestOnWire } from "../http/on_wire.ts";
import { faultsOf } from "../http/rejections.ts";

const PAYMENT = {
  Data: { ConsentId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11", Initiation: FULL_INITIATION },
  Risk: FULL_RISK,
};

function faultsWith(path: string, value: unknown): string[] {
  return faultsOf(() => decodePaymentRequest(edited(PAYMENT, path, value), CONTEXT));
}

Deno.test("payment request with every member is taken as it is [PAY-01]", () => {
  assertEquals(requestOnWire(decodePaymentRequest(PAYMENT, CONTEXT)), PAYMENT);
});

Deno.test("payment request may name a consent in any form: whether there is one is not its matter [PAY-06]", () => {
  for (const id of ["not-a-uuid", "x".repeat(128)]) {
    assertEquals(decodePaymentRequest(edited(PAYMENT, "Data.ConsentId", id), CONTEXT).consentId, id);
  }
  for (const id of ["", "x".repeat(129), null, 5]) {
    assertEquals(faultsWith("Data.ConsentId", id), ["Field.Invalid Data.ConsentId"]);
  }
});

Deno.test("payment request without a required member is rejected as missing there [PAY-02]", () => {
  for (
    const path of [
      "Data",
      "Data.ConsentId",
      "Data.Initiation",
      "Data.Initiation.InstructedAmount.Amount",
      "Risk",
    ]
  ) {
    assertEquals(faultsOf(() => decodePaymentRequest(without(PAYMENT, path), CONTEXT)), [
      `Field.Missing ${path}`,
    ]);
  }
});

Deno.test("payment request is held to the field rules of a consent [CON-16] [CON-17] [CON-18]", () => {
  const cases: [string, unknown, string][] = [
    ["Data.Initiation.InstructedAmount.Amount", "10.5", "Field.Invalid"],
    ["Data.Initiation.InstructedAmount.Currency", "USD", "Unsupported.Currency"],
    ["Data.Initiation.CreditorAccount.SchemeName", "zzzz", "Unsupported.Scheme"],
    [
      "Data.Initiation.DebtorAccount.Identification",
      "GB34BUKB20201555555555",
      "Unsupported.AccountIdentifier",
    ],
    ["Risk.PaymentContextCode", "zzzz", "Field.Invalid"],
    ["Data.ReadRefundAccount", "Yes", "Field.Unexpected"],
    ["Data.Authorisation", { AuthorisationType: "Any" }, "Field.Unexpected"],
    ["Extra", 1, "Field.Unexpected"],
  ];
  for (const [path, value, code] of cases) assertEquals(faultsWith(path, value), [`${code} ${path}`]);
});

Deno.test("payment request that pays the payer is rejected", () => {
  const payer = { SchemeName: "SortCodeAccountNumber", Identification: "11280001234567" };
  assertEquals(faultsWith("Data.Initiation.DebtorAccount", payer), [
    "Field.Invalid Data.Initiation.DebtorAccount",
  ]);
});

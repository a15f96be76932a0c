/** Records keep the form that every version of the platform has written and reads. */
import { assertEquals } from "@std/assert";
import {
  consentOf,
  payerOf,
  type StoredConsent,
  storedConsent,
  storedPayer,
} from "../../../../src/platform/core/consents/stored_consent.ts";
import {
  paymentOf,
  type StoredPayment,
  storedPayment,
} from "../../../../src/platform/core/payments/stored_payment.ts";
import { FULL } from "testing/bodies.ts";

const ACCOUNT = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819" };
const REPORTED = { ...ACCOUNT, SecondaryIdentification: "ROLL-1", Balance: "1500.00", Currency: "EUR" };

/** As written before the domain had names of its own. */
const CONSENT = JSON.parse(JSON.stringify({
  id: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  clientId: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a12",
  bank: "BANKA",
  request: FULL,
  status: "Authorized",
  createdAt: 1,
  statusUpdatedAt: 2,
  authoriseBy: 3,
  payer: { sub: "c-4711", report: 1, accounts: [REPORTED] },
  selectedAccount: REPORTED,
})) as StoredConsent;
const PAYMENT = JSON.parse(JSON.stringify({
  id: "58923a3a-2f0c-8d6e-9b1e-3c1f7f0d8a13",
  consentId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  clientId: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a12",
  bank: "BANKA",
  initiation: FULL.Data.Initiation,
  debtorAccount: ACCOUNT,
  readRefundAccount: true,
  status: "Pending",
  charges: [{
    ChargeBearer: "Shared",
    Type: "UK.OBIE.CHAPSOut",
    Amount: { Amount: "0.25", Currency: "EUR" },
  }],
  createdAt: 1,
  statusUpdatedAt: 1,
})) as StoredPayment;

Deno.test("a consent of a former version is read, and written again as it was [G11]", () => {
  const consent = consentOf(CONSENT);
  assertEquals(consent.request.initiation.instructedAmount, { amount: "19.90", currency: "EUR" });
  assertEquals(
    consent.request.scaSupportData?.requestedSCAExemptionType,
    FULL.Data.SCASupportData.RequestedSCAExemptionType,
  );
  assertEquals(consent.request.risk.deliveryAddress?.country, FULL.Risk.DeliveryAddress.Country);
  assertEquals(consent.selectedAccount?.balance, "1500.00");
  assertEquals(JSON.stringify(storedConsent(consent).request), JSON.stringify(CONSENT.request));
  assertEquals(storedConsent(consent), CONSENT);
});

Deno.test("the payer of an authorization session of a former version is read with its accounts [G11]", () => {
  const payer = payerOf({ sub: "c-4711", accounts: [REPORTED] });
  assertEquals(payer.accounts?.[0]?.identification, ACCOUNT.Identification);
  assertEquals(storedPayer(payer), { sub: "c-4711", accounts: [REPORTED] });
});

Deno.test("a payment of a former version is read, and written again as it was [G11]", () => {
  const payment = paymentOf(PAYMENT);
  assertEquals(payment.debtorAccount.identification, ACCOUNT.Identification);
  assertEquals(payment.charges[0]?.amount, { amount: "0.25", currency: "EUR" });
  assertEquals(JSON.stringify(storedPayment(payment).initiation), JSON.stringify(PAYMENT.initiation));
  assertEquals(storedPayment(payment), PAYMENT);
});

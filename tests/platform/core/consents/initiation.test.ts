/**
 * A payment against its consent, and which part of the payment data each reader gets (contract MT1 to MT4, CR2, BF2).
 * The forms of an initiation that each reader gets (contract CR2, BF2). Records keep the form that every version of the
 * platform has written and reads.
 */
import { createHash } from "node:crypto";
import { assertEquals } from "@std/assert";
import { type Linked, transactionDigest } from "../../../../src/platform/core/consents/transaction_digest.ts";
import { differencesFrom, type PaymentData } from "../../../../src/platform/core/consents/initiation.ts";
import {
  decodePaymentRequest,
  mismatchFaults,
} from "../../../../src/platform/core/payments/payment_schema.ts";
import type { Account } from "../../../../src/base/values/account.ts";
import { edited, without } from "../../guards/http/edited.ts";
import { CONTEXT, FULL, leavesOf, MINIMAL } from "testing/resource_bodies.ts";
import {
  bankInitiation,
  echoedInitiation,
  reducedInitiation,
} from "../../../../src/platform/core/consents/initiation_representation.ts";
import {
  consentOf,
  payerOf,
  type StoredConsent,
  storedConsent,
  storedPayer,
} from "../../../../src/platform/core/consents/consent_store.ts";
import {
  paymentOf,
  type StoredPayment,
  storedPayment,
} from "../../../../src/platform/core/payments/payment_store.ts";
import { decodeConsentRequest } from "../../../../src/platform/core/consents/consent_schema.ts";

const CONSENT_ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

/** The data of a decoded consent or payment to compare, from `{Data: {Initiation}, Risk}` sent as a payment. */
function paymentDataOf(body: unknown): PaymentData {
  const sent = without(
    without(without(body, "Data.ReadRefundAccount"), "Data.Authorisation"),
    "Data.SCASupportData",
  );
  return decodePaymentRequest(edited(sent, "Data.ConsentId", CONSENT_ID), CONTEXT);
}

function consentDataOf(body: unknown): PaymentData {
  return decodeConsentRequest(body, CONTEXT);
}

/** Paths in which a payment differs from a consent. */
function mismatches(consent: unknown, payment: unknown, selected?: Account): string[] {
  const differences = differencesFrom(consentDataOf(consent), paymentDataOf(payment), selected);
  return mismatchFaults(differences).map(({ code, path }) => {
    assertEquals(code, "Resource.ConsentMismatch");
    return path ?? "";
  });
}

const EXPLICIT = without(FULL, "Data.Initiation.DebtorAccount");

const LEAVES = leavesOf(FULL).filter((path) => /^(Data\.Initiation|Risk)\./.test(path));

/** Leaves that a payment may omit only because no response ever contained them (contract MT3). */
const NEVER_ANSWERED = ["Data.Initiation.DebtorAccount.Name"];
const REQUIRED = [
  "InstructedAmount.Amount",
  "InstructedAmount.Currency",
  "DebtorAccount.SchemeName",
  "DebtorAccount.Identification",
  "CreditorAccount.SchemeName",
  "CreditorAccount.Identification",
  "CreditorAccount.Name",
].map((path) => `Data.Initiation.${path}`).concat(
  "Risk.DeliveryAddress.TownName",
  "Risk.DeliveryAddress.Country",
);

Deno.test("payment that lacks a leaf of its consent, or adds one, differs there [PAY-02]", () => {
  for (const path of LEAVES) {
    if (REQUIRED.includes(path) || path.includes("[")) continue;
    const lacking = without(FULL, path);
    assertEquals(mismatches(lacking, FULL), [path], `added ${path}`);
    assertEquals(mismatches(FULL, lacking), NEVER_ANSWERED.includes(path) ? [] : [path], `removed ${path}`);
  }
});

Deno.test("payment with address lines swapped, added or removed differs in each position [PAY-02]", () => {
  const path = "Data.Initiation.CreditorPostalAddress.AddressLine";
  assertEquals(mismatches(FULL, edited(FULL, path, ["Second floor", "1 High Street"])), [
    `${path}[0]`,
    `${path}[1]`,
  ]);
  assertEquals(mismatches(FULL, edited(FULL, path, ["1 High Street"])), [`${path}[1]`]);
  assertEquals(mismatches(FULL, edited(FULL, path, ["1 High Street", "Second floor", "Bell 3"])), [
    `${path}[2]`,
  ]);
  assertEquals(mismatches(FULL, without(FULL, path)), [`${path}[0]`, `${path}[1]`]);
});

Deno.test("payment that differs in several leaves is told each, depth first [PAY-02]", () => {
  const payment = edited(
    edited(
      edited(FULL, "Risk.MerchantCategoryCode", "5733"),
      "Data.Initiation.InstructedAmount.Amount",
      "1.00",
    ),
    "Data.Initiation.RemittanceInformation",
    undefined,
  );
  assertEquals(mismatches(FULL, payment), [
    "Data.Initiation.InstructedAmount.Amount",
    "Data.Initiation.RemittanceInformation.Unstructured",
    "Data.Initiation.RemittanceInformation.Reference",
    "Risk.MerchantCategoryCode",
  ]);
});

Deno.test("payment that differs everywhere is told 20 leaves [PAY-02]", () => {
  const faults = mismatchFaults(differencesFrom(consentDataOf(MINIMAL), paymentDataOf(FULL)));
  assertEquals(faults.length, 20);
  assertEquals(faults.every((fault) => fault.message === "Differs from the consent."), true);
});

Deno.test("payment may leave out the address or the mobile number, not change them [PAY-02]", () => {
  const address = "Data.Initiation.CreditorPostalAddress";
  assertEquals(mismatches(FULL, without(FULL, address)), []);
  assertEquals(mismatches(FULL, without(FULL, "Data.Initiation.SupplementaryData")), []);
  assertEquals(
    mismatches(without(FULL, address), edited(MINIMAL, address, { TownName: "Leeds" })).includes(
      `${address}.TownName`,
    ),
    true,
  );
  assertEquals(mismatches(MINIMAL, edited(MINIMAL, address, { TownName: "Leeds" })), [`${address}.TownName`]);
  assertEquals(mismatches(MINIMAL, edited(MINIMAL, address, {})), [address]);
  assertEquals(
    mismatches(
      MINIMAL,
      edited(MINIMAL, "Data.Initiation.SupplementaryData.DebtorMobileNumber", "07700900123"),
    ),
    ["Data.Initiation.SupplementaryData.DebtorMobileNumber"],
  );
});

const SELECTED: Account = {
  schemeName: "UK.OBIE.IBAN",
  identification: "DE89370400440532013000",
  secondaryIdentification: "SUB-1",
};
const SELECTED_ON_WIRE = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "DE89370400440532013000",
  SecondaryIdentification: "SUB-1",
};

Deno.test("payment of an explicit consent may name no other account [PAY-04]", () => {
  const path = "Data.Initiation.DebtorAccount";
  const named = (account: unknown, selected?: Account): string[] =>
    mismatches(EXPLICIT, edited(EXPLICIT, path, account), selected);
  const other = { ...SELECTED_ON_WIRE, Identification: "GB29NWBK60161331926819" };
  assertEquals(named(other, SELECTED), [`${path}.Identification`]);
  assertEquals(named({ ...SELECTED_ON_WIRE, SecondaryIdentification: "SUB-2" }, SELECTED), [
    `${path}.SecondaryIdentification`,
  ]);
  assertEquals(named({ ...SELECTED_ON_WIRE, SchemeName: "UK.OBIE.BBAN" }, SELECTED), [`${path}.SchemeName`]);
  assertEquals(named(without(SELECTED_ON_WIRE, "SecondaryIdentification"), SELECTED), [
    `${path}.SecondaryIdentification`,
  ]);
  assertEquals(named({ ...SELECTED_ON_WIRE, Name: "Unchecked" }, SELECTED), [`${path}.Name`]);
});

Deno.test("payment of an explicit consent may name no account while none is selected [PAY-04]", () => {
  const path = "Data.Initiation.DebtorAccount";
  const faults = mismatches(EXPLICIT, edited(EXPLICIT, path, SELECTED_ON_WIRE));
  assertEquals(faults, [`${path}.SchemeName`, `${path}.Identification`, `${path}.SecondaryIdentification`]);
});

Deno.test("a selected account does not stand in for an implicit consent's own [PAY-04]", () => {
  const payment = edited(FULL, "Data.Initiation.DebtorAccount", SELECTED_ON_WIRE);
  assertEquals(mismatches(FULL, payment, SELECTED), [
    "Data.Initiation.DebtorAccount.Identification",
    "Data.Initiation.DebtorAccount.SecondaryIdentification",
  ]);
});

const PAYER = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "GB29NWBK60161331926819",
  SecondaryIdentification: "SUB-7",
};
const PAYEE = {
  SchemeName: "UK.OBIE.SortCodeAccountNumber",
  Identification: "11280001234567",
  Name: "Example Shop Ltd",
  SecondaryIdentification: "ROLL-1",
};

Deno.test("echoedInitiation leaves out the payer's name, the address and the mobile number [CON-25]", () => {
  assertEquals(echoedInitiation(consentDataOf(FULL).initiation), {
    InstructionIdentification: "INSTR-1",
    EndToEndIdentification: "E2E-1",
    InstructedAmount: { Amount: "19.90", Currency: "EUR" },
    DebtorAccount: PAYER,
    CreditorAccount: PAYEE,
    RemittanceInformation: { Unstructured: "Order 1001, thank you", Reference: "ORDER-1001" },
  });
  assertEquals(echoedInitiation(consentDataOf(MINIMAL).initiation), MINIMAL.Data.Initiation);
});

Deno.test("reducedInitiation has amount, payee, remittance and the payer's account where held [CON-23]", () => {
  assertEquals(reducedInitiation(consentDataOf(FULL).initiation), {
    InstructedAmount: { Amount: "19.90", Currency: "EUR" },
    DebtorAccount: PAYER,
    CreditorAccount: PAYEE,
    RemittanceInformation: { Unstructured: "Order 1001, thank you", Reference: "ORDER-1001" },
  });
  assertEquals(Object.keys(reducedInitiation(consentDataOf(EXPLICIT).initiation)), [
    "InstructedAmount",
    "CreditorAccount",
    "RemittanceInformation",
  ]);
});

Deno.test("bankInitiation has the payer's name, and null for absent identifications [BCH-01]", () => {
  assertEquals(bankInitiation(consentDataOf(FULL).initiation), {
    InstructionIdentification: "INSTR-1",
    EndToEndIdentification: "E2E-1",
    InstructedAmount: { Amount: "19.90", Currency: "EUR" },
    DebtorAccount: { ...PAYER, Name: "Alice Payer" },
    CreditorAccount: PAYEE,
  });
  assertEquals(bankInitiation(consentDataOf(MINIMAL).initiation), {
    InstructionIdentification: null,
    EndToEndIdentification: null,
    InstructedAmount: { Amount: "19.90", Currency: "EUR" },
    CreditorAccount: MINIMAL.Data.Initiation.CreditorAccount,
  });
});

const ACCOUNT = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819" };
const REPORTED = { ...ACCOUNT, SecondaryIdentification: "ROLL-1", Balance: "1500.00", Currency: "EUR" };

/** In the names of the API. */
const CONSENT = JSON.parse(JSON.stringify({
  id: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  clientId: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a12",
  bank: "BANKA",
  request: FULL,
  status: "Authorized",
  createdAt: 1,
  statusUpdatedAt: 2,
  authoriseBy: 3,
  payer: { sub: "c-4711", reports: [3], accounts: [REPORTED] },
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

Deno.test("a stored consent is read, and written again as it was [G11]", () => {
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

Deno.test("the payer of a stored authorization session is read with its accounts [G11]", () => {
  const payer = payerOf({ sub: "c-4711", reports: [3], accounts: [REPORTED] });
  assertEquals(payer.accounts?.[0]?.identification, ACCOUNT.Identification);
  assertEquals(storedPayer(payer), { sub: "c-4711", reports: [3], accounts: [REPORTED] });
});

Deno.test("a stored payment is read, and written again as it was [G11]", () => {
  const payment = paymentOf(PAYMENT);
  assertEquals(payment.debtorAccount.identification, ACCOUNT.Identification);
  assertEquals(payment.charges[0]?.amount, { amount: "0.25", currency: "EUR" });
  assertEquals(JSON.stringify(storedPayment(payment).initiation), JSON.stringify(PAYMENT.initiation));
  assertEquals(storedPayment(payment), PAYMENT);
});

Deno.test("the digest of a transaction is that of the documented list, with null for each absent member [LNK1]", () => {
  const payee = { Name: "Shop", SchemeName: "UK.OBIE.IBAN", Identification: "P1" };
  const payer = { SchemeName: "UK.OBIE.BBAN", Identification: "A1" };
  const [amount, other] = [{ Amount: "4.20", Currency: "EUR" }, { SecondaryIdentification: "2" }];
  const listed = ["4.20", "EUR", "Shop", "UK.OBIE.IBAN", "P1"];
  for (
    const [linked, ...rest] of [
      [{ CreditorAccount: payee }, null, null, null, null],
      [{ CreditorAccount: { ...payee, ...other } }, "2", null, null, null],
      [{ CreditorAccount: payee, DebtorAccount: payer }, null, "UK.OBIE.BBAN", "A1", null],
      [
        { CreditorAccount: payee, DebtorAccount: { ...payer, ...other } },
        null,
        "UK.OBIE.BBAN",
        "A1",
        "2",
      ],
    ] as const
  ) {
    const expected = createHash("sha256").update(JSON.stringify([...listed, ...rest])).digest("base64url");
    assertEquals(transactionDigest({ InstructedAmount: amount, ...linked } as Linked), expected);
  }
});

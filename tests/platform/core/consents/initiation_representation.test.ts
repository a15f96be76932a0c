/** The forms of an initiation that each reader gets (contract CR2, BF2). */
import { assertEquals } from "@std/assert";
import {
  bankInitiation,
  echoedInitiation,
  reducedInitiation,
} from "../../../../src/platform/core/consents/initiation_representation.ts";
import { FULL, MINIMAL } from "testing/bodies.ts";
import { without } from "../../guards/http/edited.ts";
import { consentDataOf } from "./payment_data.ts";

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

const EXPLICIT = without(FULL, "Data.Initiation.DebtorAccount");

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

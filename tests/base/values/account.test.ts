/** The names of account schemes, and what looks like an account number. */
import { assertEquals } from "@std/assert";
import { canonicalScheme, isAccountNumberLike, isSameAccount } from "../../../src/base/values/account.ts";

Deno.test("canonicalScheme knows two old names [CON-18]", () => {
  for (const name of ["IBAN", "BBAN", "SortCodeAccountNumber", "PAN", "Paym", "Wallet"]) {
    assertEquals(canonicalScheme(`UK.OBIE.${name}`), `UK.OBIE.${name}`);
  }
  assertEquals(canonicalScheme("IBAN"), "UK.OBIE.IBAN");
  assertEquals(canonicalScheme("SortCodeAccountNumber"), "UK.OBIE.SortCodeAccountNumber");
});

Deno.test("isSameAccount sees through a scheme's old name", () => {
  const account = { schemeName: "UK.OBIE.IBAN", identification: "GB33BUKB20201555555555" };
  assertEquals(isSameAccount(account, { ...account, schemeName: "IBAN", name: "Other" }), true);
  assertEquals(isSameAccount(account, { ...account, identification: "GB29NWBK60161331926819" }), false);
  assertEquals(isSameAccount(account, { ...account, schemeName: "UK.OBIE.BBAN" }), false);
  assertEquals(isSameAccount(account, { ...account, secondaryIdentification: "ROLL-1" }), false);
});

Deno.test("isAccountNumberLike finds IBANs and card numbers, however grouped [BCH-04]", () => {
  for (
    const text of [
      "GB33BUKB20201555555555",
      "gb33 bukb 2020 1555 5555 55",
      "4111111111111111",
      "4111-1111-1111-1111",
      "378282246310005",
    ]
  ) assertEquals(isAccountNumberLike(text), true, text);
});

Deno.test("isAccountNumberLike leaves customer names alone [BCH-04]", () => {
  for (
    const text of [
      "c-4711",
      "alice",
      "4111111111111112",
      "GB34BUKB20201555555555",
      "18", // a right Luhn digit, but no card number
      "79927398713", // eleven digits with a right Luhn digit
      "7f1d2a3e-8f5f-4d7e-9b5a-0c3f6a8e2b11",
    ]
  ) assertEquals(isAccountNumberLike(text), false, text);
});

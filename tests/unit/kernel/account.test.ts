/** Account schemes, the formats of their identifications, and what looks like an account number. */
import { assertEquals } from "@std/assert";
import {
  canonicalScheme,
  identificationFault,
  isAccountNumberLike,
  isSameAccount,
} from "../../../src/kernel/account.ts";

Deno.test("canonicalScheme knows the OBIE schemes and two old names [CON-18]", () => {
  for (const name of ["IBAN", "BBAN", "SortCodeAccountNumber", "PAN", "Paym", "Wallet"]) {
    assertEquals(canonicalScheme(`UK.OBIE.${name}`), `UK.OBIE.${name}`);
  }
  assertEquals(canonicalScheme("IBAN"), "UK.OBIE.IBAN");
  assertEquals(canonicalScheme("SortCodeAccountNumber"), "UK.OBIE.SortCodeAccountNumber");
});

Deno.test("canonicalScheme takes extensions of a country and an issuer", () => {
  for (const name of ["KE.Safaricom.M-Pesa", "CO.Redeban.Account", "GB.Shop.Card", "UK.Shop.Card"]) {
    assertEquals(canonicalScheme(name), name);
  }
});

Deno.test("canonicalScheme refuses every other name [CON-18]", () => {
  const unknown = [
    "",
    "BBAN",
    "PAN",
    "iban",
    "UK.OBIE.iban",
    "UK.OBIE.Euro",
    "UK.OBIE.",
    "UK.OBIE",
    "ZZ.Shop.Card", // no such country
    "ke.Safaricom.M-Pesa",
    "KE.Safaricom",
    "KE.Safaricom.M-Pesa.X",
    "KE..X",
    "KE.Safaricom.M Pesa",
    "UK.OBIE.IBAN ",
    `KE.Safaricom.${"x".repeat(28)}`, // 41 characters
    "constructor",
    "__proto__",
  ];
  for (const name of unknown) assertEquals(canonicalScheme(name), undefined, name);
  assertEquals(canonicalScheme(`KE.Safaricom.${"x".repeat(27)}`)?.length, 40);
});

Deno.test("identificationFault applies the format of each scheme [CON-18]", () => {
  const cases: [string, string, boolean][] = [
    ["UK.OBIE.IBAN", "GB33BUKB20201555555555", true],
    ["IBAN", "GB33BUKB20201555555555", true],
    ["UK.OBIE.IBAN", "GB34BUKB20201555555555", false],
    ["UK.OBIE.BBAN", "BUKB20201555555555", true],
    ["UK.OBIE.BBAN", "a".repeat(31), false],
    ["UK.OBIE.BBAN", "BUKB-2020", false],
    ["UK.OBIE.SortCodeAccountNumber", "11280001234567", true],
    ["SortCodeAccountNumber", "11280001234567", true],
    ["UK.OBIE.SortCodeAccountNumber", "1128000123456", false],
    ["UK.OBIE.SortCodeAccountNumber", "112800012345678", false],
    ["UK.OBIE.SortCodeAccountNumber", "11-28-00 012345", false],
    ["UK.OBIE.PAN", "4111111111111111", true],
    ["UK.OBIE.PAN", "4111111111111112", false],
    ["UK.OBIE.PAN", "0000000", false],
    ["UK.OBIE.Paym", "+447700900123", true],
    ["UK.OBIE.Paym", "+44-7700900123", true],
    ["UK.OBIE.Paym", "mobile", false],
    ["UK.OBIE.Wallet", "anything, even 🙂", true],
    ["KE.Safaricom.M-Pesa", "254700000000", true],
    ["UK.OBIE.Euro", "GB33BUKB20201555555555", false],
  ];
  for (const [scheme, identification, expected] of cases) {
    assertEquals(
      identificationFault(scheme, identification) === undefined,
      expected,
      `${scheme} ${identification}`,
    );
  }
});

Deno.test("isSameAccount sees through a scheme's old name", () => {
  const account = { schemeName: "UK.OBIE.IBAN", identification: "GB33BUKB20201555555555" };
  assertEquals(isSameAccount(account, { ...account, schemeName: "IBAN", name: "Other" }), true);
  assertEquals(isSameAccount(account, { ...account, identification: "GB29NWBK60161331926819" }), false);
  assertEquals(isSameAccount(account, { ...account, schemeName: "UK.OBIE.BBAN" }), false);
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

/** IBANs: form, length by country, check digits. */
import { assertEquals } from "@std/assert";
import { ibanFault, isIban } from "../../../src/base/values/account.ts";

Deno.test("isIban takes registry examples of every length family [CON-18]", () => {
  const valid = [
    "GB33BUKB20201555555555",
    "GB29NWBK60161331926819",
    "DE89370400440532013000",
    "FR1420041010050500013M02606",
    "NO9386011117947",
    "NL91ABNA0417164300",
    "BE68539007547034",
    "CH9300762011623852957",
    "SE4550000000058398257466",
    "MT84MALT011000012345MTLCAST001S",
    "LC55HEMM000100010012001200023015",
    "BR1800360305000010009795493C1",
    "XK051212012345678906",
    "SC18SSCB11010000000000001497USD",
    "RU0304452522540817810538091310419",
  ];
  for (const iban of valid) assertEquals(isIban(iban), true, iban);
});

Deno.test("isIban rejects wrong check digits, lengths, countries and spellings [CON-18]", () => {
  const invalid = [
    "GB34BUKB20201555555555", // check digits
    "GB33BUKB20201555555554", // one digit changed
    "GB33BUKB2020155555555", // too short for GB
    "DE8937040044053201300000", // too long for DE
    "ZZ89370400440532013000", // no such country
    "US89370400440532013000", // a country without IBANs
    "gb33bukb20201555555555",
    "GB33 BUKB 2020 1555 5555 55",
    "GB33BUKB20201555555555\n",
    "GB",
    "",
  ];
  for (const iban of invalid) assertEquals(isIban(iban), false, iban);
});

Deno.test("isIban rejects check digits 00, 01 and 99, second spellings of 97, 98 and 02 [CON-18]", () => {
  for (let account = 0; account < 300; account++) {
    const bban = account.toString().padStart(18, "0");
    for (const digits of ["00", "01", "99"]) assertEquals(isIban(`DE${digits}${bban}`), false);
  }
});

Deno.test("ibanFault names the spelling that is wrong, the country's length or the check digits [CON-18]", () => {
  const separated = "Must be an IBAN without spaces, hyphens or other separators.";
  const cases: readonly (readonly [text: string, fault: string | undefined])[] = [
    ["GB33BUKB20201555555555", undefined],
    ["GB33 BUKB 2020 1555 5555 55", separated],
    ["GB33-BUKB-2020-1555-5555-55", separated],
    ["gb33bukb20201555555555", "Must be an IBAN in capital letters."],
    ["GB", "Must be an IBAN: two letters, two check digits, then 11 to 30 letters and digits."],
    ["GB33BUKB2020155555555", "Must be an IBAN; an IBAN of GB has 22 characters."],
    ["US89370400440532013000", "Must be an IBAN; its first two letters are not a country that has IBANs."],
    [
      "GB34BUKB20201555555555",
      "Must be an IBAN; its check digits (the third and fourth character) do not fit the rest.",
    ],
  ];
  for (const [text, fault] of cases) assertEquals(ibanFault(text), fault, text);
});

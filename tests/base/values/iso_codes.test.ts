/** Which currency and country codes are in use. */
import { assertEquals } from "@std/assert";
import { isCountryCode } from "../../../src/base/values/iso_countries.ts";
import { decimalsOf, isCurrencyCode } from "../../../src/base/values/money.ts";

Deno.test("isCurrencyCode knows currencies in use, and only those [CON-17]", () => {
  for (const code of ["COP", "EUR", "GBP", "USD", "JPY", "KWD", "XOF", "XPF", "XCG", "ZWG", "SLE", "VED"]) {
    assertEquals(isCurrencyCode(code), true, code);
  }
  const left = [
    "gbp",
    "ZZZ",
    "XXX",
    "XTS",
    "XAU",
    "XDR",
    "COU",
    "CHE",
    "USN",
    "UYI",
    "CLF",
    "DEM",
    "HRK",
    "BGN",
    "ANG",
    "ZWL",
  ];
  for (const code of [...left, "", "EU", "EURO", "EUR ", 978, null]) {
    assertEquals(isCurrencyCode(code), false, String(code));
  }
});

Deno.test("there are 155 currencies", () => {
  assertEquals(everyCode(3).filter(isCurrencyCode).length, 155);
});

Deno.test("isCountryCode knows assigned codes and UK, and only those [CON-14]", () => {
  for (const code of ["GB", "UK", "XK", "CO", "DE", "US", "SS", "BQ", "TW"]) {
    assertEquals(isCountryCode(code), true, code);
  }
  for (const code of ["gb", "ZZ", "EU", "AN", "YU", "AA", "G", "GBR", "", 826, null]) {
    assertEquals(isCountryCode(code), false, String(code));
  }
});

Deno.test("there are 249 countries, UK and XK", () => {
  assertEquals(everyCode(2).filter(isCountryCode).length, 251);
});

Deno.test("decimalsOf knows the minor unit of every currency in use [CF23]", () => {
  const of = (decimals: number): string =>
    everyCode(3).filter((code) => decimalsOf(code) === decimals).join(" ");
  assertEquals(of(0), "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF");
  assertEquals(of(3), "BHD IQD JOD KWD LYD OMR TND");
  assertEquals(of(2).split(" ").length, 155 - 16 - 7);
  for (const code of ["ZZZ", "XXX", "eur", ""]) assertEquals(decimalsOf(code), undefined, code);
});

function everyCode(length: number): string[] {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  return Array.from({ length: length - 1 }).reduce<string[]>(
    (codes) => codes.flatMap((code) => letters.map((letter) => code + letter)),
    letters,
  );
}

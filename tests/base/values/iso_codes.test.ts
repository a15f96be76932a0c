/** Which currency and country codes are in use. */
import { assertEquals } from "@std/assert";
import { isCountryCode } from "../../../src/base/values/iso_countries.ts";
import { isCurrencyCode } from "../../../src/base/values/iso_currencies.ts";

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
  for (const code of ["GB", "UK", "CO", "DE", "US", "SS", "BQ", "TW"]) {
    assertEquals(isCountryCode(code), true, code);
  }
  for (const code of ["gb", "ZZ", "XK", "EU", "AN", "YU", "AA", "G", "GBR", "", 826, null]) {
    assertEquals(isCountryCode(code), false, String(code));
  }
});

Deno.test("there are 249 countries, and UK", () => {
  assertEquals(everyCode(2).filter(isCountryCode).length, 250);
});

function everyCode(length: number): string[] {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  return Array.from({ length: length - 1 }).reduce<string[]>(
    (codes) => codes.flatMap((code) => letters.map((letter) => code + letter)),
    letters,
  );
}

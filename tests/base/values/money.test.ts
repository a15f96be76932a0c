/** Amounts and balances: exact, bounded, never through floating point. */
import { assertEquals, assertMatch, assertNotMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { BALANCE_PATTERN, compareDecimals, covers, isAmount } from "../../../src/base/values/money.ts";

Deno.test("isAmount takes two fraction digits, more than zero, up to 13 digits [CON-16]", () => {
  for (const value of ["0.01", "1.00", "10.50", "1234567890123.99"]) {
    assertEquals(isAmount(value), true, value);
  }
});

Deno.test("isAmount rejects every other form [CON-16]", () => {
  const rejected = [
    "10",
    "10.5",
    "10.555",
    "-1.00",
    "+1.00",
    "0.00",
    "1e2",
    "12345678901234.00",
    "01.00",
    "00.01",
  ];
  const outsider = [
    "",
    " 1.00",
    "1.00 ",
    "1.00\n",
    "1,00",
    "1 000.00",
    "1.000",
    "１.００",
    ".50",
    "1.",
    "١.٠٠",
    "NaN",
    10,
    10.5,
    null,
    undefined,
    {},
  ];
  for (const value of [...rejected, ...outsider]) assertEquals(isAmount(value), false, String(value));
});

Deno.test("a balance has a sign and up to five fraction digits [BCH-03]", () => {
  for (const value of ["0", "-0.00", "1500.00", "-12.5", "1234567890123.12345"]) {
    assertMatch(value, BALANCE_PATTERN);
  }
  for (const value of ["", "-", "+1", "1.", ".5", "1.123456", "12345678901234", "1e3", "1 000"]) {
    assertNotMatch(value, BALANCE_PATTERN);
  }
});

Deno.test("compareDecimals orders decimals of different precision and sign", () => {
  const cases: [string, string, -1 | 0 | 1][] = [
    ["1.00", "1", 0],
    ["0.10000", "0.1", 0],
    ["-0", "0.00", 0],
    ["0.99999", "1.00", -1],
    ["-1", "-0.5", -1],
    ["-0.5", "0.01", -1],
    ["10", "9.99", 1],
    ["9999999999999.99999", "9999999999999.99998", 1],
  ];
  for (const [a, b, expected] of cases) assertEquals(compareDecimals(a, b), expected, `${a} ${b}`);
});

Deno.test("compareDecimals throws on what is no decimal", () => {
  assertThrows(() => compareDecimals("1.00", "abc"), RangeError);
  assertThrows(() => compareDecimals("1e3", "1.00"), RangeError);
});

Deno.test("covers needs at least the amount [FUN-02]", () => {
  assertEquals(covers("100.00", "100.00"), true);
  assertEquals(covers("100.00001", "100.00"), true);
  assertEquals(covers("99.99999", "100.00"), false);
  assertEquals(covers("-100.00", "0.01"), false);
  assertEquals(covers("0.3", "0.30"), true);
});

const hundredThousandths = fc.bigInt({ min: -999_999_999_999_999_999n, max: 999_999_999_999_999_999n });

/** A whole number of hundred-thousandths as a decimal with five fraction digits. */
function decimalOf(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(6, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -5)}.${digits.slice(-5)}`;
}

Deno.test("compareDecimals agrees with whole numbers", () => {
  fc.assert(fc.property(hundredThousandths, hundredThousandths, (a, b) => {
    const expected = a < b ? -1 : a > b ? 1 : 0;
    assertEquals(compareDecimals(decimalOf(a), decimalOf(b)), expected);
  }));
});

Deno.test("compareDecimals is antisymmetric, and trailing zeros do not matter", () => {
  fc.assert(fc.property(hundredThousandths, hundredThousandths, (a, b) => {
    const [left, right] = [decimalOf(a), decimalOf(b)];
    assertEquals(compareDecimals(left, right) + compareDecimals(right, left), 0);
    assertEquals(compareDecimals(left, left.replace(/\.?0+$/, "")), 0);
  }));
});

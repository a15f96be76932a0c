/**
 * Amounts and balances as the decimal strings they arrive in. Compared exactly, in whole hundred-thousandths;
 * never through floating point, never rounded, never reformatted.
 */

/** An amount: more than zero, up to 13 digits, then exactly two fraction digits (contract CF8). */
export const AMOUNT_PATTERN = /^(?!0\.00$)(0|[1-9]\d{0,12})\.\d{2}$/;
/** A balance: a sign where negative, up to 13 digits, up to five fraction digits (contract BF8). */
export const BALANCE_PATTERN = /^-?\d{1,13}(\.\d{1,5})?$/;

const FRACTION_DIGITS = 5;

/** Whether the value is an amount that can be paid: two fraction digits and more than zero. */
export function isAmount(value: unknown): value is string {
  return typeof value === "string" && AMOUNT_PATTERN.test(value);
}

/** Whether the value is a balance. */
export function isBalance(value: unknown): value is string {
  return typeof value === "string" && BALANCE_PATTERN.test(value);
}

/**
 * -1, 0 or 1 as `a` is less than, equal to or more than `b`, whatever their number of fraction digits.
 *
 * @throws {RangeError} where one of them is neither an amount nor a balance: the caller's bug
 */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const left = units(a);
  const right = units(b);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Whether the balance is enough for the amount. Both are in the same currency: that is the caller's to know.
 */
export function covers(balance: string, amount: string): boolean {
  return compareDecimals(balance, amount) >= 0;
}

function units(decimal: string): bigint {
  if (!BALANCE_PATTERN.test(decimal)) throw new RangeError("not a decimal of a balance or an amount");
  const [whole = "", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(FRACTION_DIGITS, "0"));
}

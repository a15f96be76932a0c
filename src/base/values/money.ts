/**
 * Amounts and balances as the decimal strings that were received. They are compared exactly, in whole
 * hundred-thousandths, and never converted to floating point, rounded or reformatted.
 */

/** An amount: more than zero, up to 13 digits, then exactly two fraction digits (contract CF8). */
export const AMOUNT_PATTERN = /^(?!0\.00$)(0|[1-9]\d{0,12})\.\d{2}$/;
/** A balance: a minus sign if negative, up to 13 digits, up to five fraction digits (contract BF8). */
export const BALANCE_PATTERN = /^-?\d{1,13}(\.\d{1,5})?$/;

const FRACTION_DIGITS = 5;

/** Whether the value is a valid amount: two fraction digits and more than zero. */
export function isAmount(value: unknown): value is string {
  return typeof value === "string" && AMOUNT_PATTERN.test(value);
}

export function isBalance(value: unknown): value is string {
  return typeof value === "string" && BALANCE_PATTERN.test(value);
}

/**
 * Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`. They may have different numbers of fraction
 * digits.
 *
 * @throws {RangeError} if one of them is neither an amount nor a balance, which is a bug of the caller
 */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const left = units(a);
  const right = units(b);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Whether the balance is enough for the amount. The caller ensures that both are in the same currency. */
export function covers(balance: string, amount: string): boolean {
  return compareDecimals(balance, amount) >= 0;
}

function units(decimal: string): bigint {
  if (!BALANCE_PATTERN.test(decimal)) throw new RangeError("not a decimal of a balance or an amount");
  const [whole = "", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(FRACTION_DIGITS, "0"));
}

/** Amounts, and the currencies of ISO 4217 with their decimals. */

/** An amount: more than zero, up to 13 digits, then exactly two fraction digits (contract CF8). */
export const AMOUNT_PATTERN = /^(?!0\.00$)(0|[1-9]\d{0,12})\.\d{2}$/;
/** A balance: a minus sign if negative, up to 13 digits, up to five fraction digits (contract BF8). */
export const BALANCE_PATTERN = /^-?\d{1,13}(\.\d{1,5})?$/;

const FRACTION_DIGITS = 5;

/** Whether the value is a valid amount: two fraction digits and more than zero. */
export function isAmount(value: unknown): value is string {
  return typeof value === "string" && AMOUNT_PATTERN.test(value);
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

// The active currency codes of ISO 4217 (list one as of 2026-08), without funds (BOV, CHE, COU, USN …), precious
// metals, bond market and settlement units (XAU, XBA, XDR …), and the codes for tests and for no currency (XTS, XXX).

const ACTIVE = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
   CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
   HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL
   LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP
   PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
   TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(
    /\s+/,
  ),
);

/** Currencies with another number of decimals than two (minor unit in ISO 4217 list one as of 2026-08). */
const NO_DECIMALS = new Set("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" "));
const THREE_DECIMALS = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

/** Returns the number of decimals of a currency in use, or undefined for any other code. */
export function decimalsOf(code: string): 0 | 2 | 3 | undefined {
  if (!ACTIVE.has(code)) return undefined;
  if (NO_DECIMALS.has(code)) return 0;
  return THREE_DECIMALS.has(code) ? 3 : 2;
}

/** Whether the value is the code of a currency in use, in capitals. */
export function isCurrencyCode(value: unknown): value is string {
  return typeof value === "string" && ACTIVE.has(value);
}

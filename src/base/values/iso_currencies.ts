/**
 * The active currency codes of ISO 4217 (list one as of 2026-08), without funds (BOV, CHE, COU, USN …), precious
 * metals, bond market and settlement units (XAU, XBA, XDR …), and the codes for tests and for no currency (XTS, XXX).
 */
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
const NO_DECIMALS = new Set(
  "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" "),
);
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

/**
 * The codes of ISO 20022 with which a bank says why it rejected (contract RSN1). A TPP also reads codes of the platform's
 * own, which have more than four characters. The platform's documentation says what each one means.
 */
export const BANK_REASON_CODES = [
  "AB05",
  "AB08",
  "AC01",
  "AC03",
  "AC04",
  "AC06",
  "AC07",
  "AC13",
  "AG01",
  "AM02",
  "AM03",
  "AM04",
  "AM05",
  "AM12",
  "AM14",
  "BE01",
  "CUST",
  "DS02",
  "DS04",
  "DS24",
  "ED05",
  "FF05",
  "FR01",
  "MS03",
  "NARR",
  "NOAS",
  "RC04",
  "RR04",
  "TM01",
] as const;

/** One of {@link BANK_REASON_CODES}. */
export type BankReasonCode = typeof BANK_REASON_CODES[number];

/**
 * Checks international bank account numbers (ISO 13616): form, length by country, check digits. The structure of the
 * BBAN is not checked.
 */

/** The form alone. Check digits are 02 to 98, because 00, 01 and 99 would be second spellings of 97, 98 and 02. */
const FORM = /^[A-Z]{2}(?!00|01|99)\d{2}[A-Z0-9]{11,30}$/;

/** Length of an IBAN in characters, by country: the IBAN registry (SWIFT, release of 2024-12). */
const LENGTHS = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20
   EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30
   KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23
   PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26
   UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/).map((entry): [string, number] => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Whether the text is an IBAN in electronic form: capitals, no spaces, correct length and check digits. */
export function isIban(text: string): boolean {
  return ibanFault(text) === undefined;
}

/**
 * Returns the fault of an IBAN as a sentence for the caller, or undefined if it is valid. The sentence quotes only
 * the code of a country that has IBANs.
 */
export function ibanFault(text: string): string | undefined {
  const country = text.slice(0, 2);
  const length = LENGTHS.get(country);
  if (!FORM.test(text)) return formFault(text);
  if (length === undefined) return "Must be an IBAN; its first two letters are not a country that has IBANs.";
  if (length !== text.length) return `Must be an IBAN; an IBAN of ${country} has ${length} characters.`;
  if (remainder97(text) === 1) return undefined;
  return "Must be an IBAN; its check digits (the third and fourth character) do not fit the rest.";
}

function formFault(text: string): string {
  if (/[\s\p{P}]/u.test(text)) return "Must be an IBAN without spaces, hyphens or other separators.";
  if (FORM.test(text.toUpperCase())) return "Must be an IBAN in capital letters.";
  return "Must be an IBAN: two letters, two check digits, then 11 to 30 letters and digits.";
}

/** ISO 7064 MOD 97-10 over the rearranged number. Letters count as 10 to 35. */
function remainder97(iban: string): number {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}

/** Masks what may be a credential or an account in a value that another party has sent. No I/O. */

/** Parts of tokens, codes, JWTs and addresses. */
const WORDS = /[A-Za-z0-9+_~=-]+/g;
const EMAILS = /[^\s'"@]+@[^\s'"@]+/g;
const NUMBERS = /[A-Za-z]{0,2}[0-9](?:[ -]?[A-Za-z0-9]){6,}/g;
/** Key ids (27 characters, SHA-1) are shown; no credential of the platform is as short. */
const MAX_SHOWN_CHARACTERS = 31;

/**
 * Returns the text with its long words, numbers and e-mail addresses cut to four characters. Ids of clients, consents,
 * payments and sessions remain, because they are what a reader compares.
 */
export function maskedText(text: string): string {
  return text.split(IDS).map((part, index) => index % 2 === 1 ? part : maskText(part)).join("");
}

const IDS = /((?:SC-)?\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)/;

function maskText(text: string): string {
  return text.replaceAll(EMAILS, cut)
    .replaceAll(WORDS, (word) => word.length > MAX_SHOWN_CHARACTERS ? cut(word) : word)
    .replaceAll(NUMBERS, (number) => isNumberLike(number) ? cut(number) : number);
}

/** Account and telephone numbers have at least seven digits, and more digits than letters. */
function isNumberLike(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]/g, "").length;
  return digits >= 7 && digits > text.replaceAll(/[^A-Za-z]/g, "").length;
}

function cut(text: string): string {
  return `${text.slice(0, 4)}...`;
}

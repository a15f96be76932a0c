/** Mail addresses that can stand in a header and in an SMTP command as they are. */

/** RFC 5321 §4.1.2 without quoted local parts and without address literals. ASCII alone. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,186}[A-Za-z0-9])?$/;

export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Fields that several resource bodies have, each with its rule, fault and documentation. */
import { z } from "@hono/zod-openapi";
import type { FaultCode } from "../../../base/kernel/api_error.ts";
import { isCountryCode } from "../../../base/values/iso_countries.ts";
import { isCurrencyCode } from "../../../base/values/money.ts";
import { hasVisibleLetter, isPlain } from "../../../base/kernel/foreign_text.ts";
import { BANK_REASON_CODES, REASON_CODES, type ReasonCode } from "../../../base/values/reason_codes.ts";
import { rejectedAs } from "./decode.ts";

/** JSON Schema pattern without control characters (C0, DEL) and noncharacters of the basic plane. */
export const TEXT_PATTERN = "^[^\\u0000-\\u001f\\u007f\\ufdd0-\\ufdef\\ufffe\\uffff]*$";

/**
 * OBIE `MaxNText`: 1 to `max` Unicode code points, no control character (C0, DEL) and no noncharacter,
 * which XML and so ISO 20022 messages cannot hold.
 *
 * @param code of the fault if length or content is wrong
 */
export function text(max: number, code: FaultCode = "Field.Invalid"): z.ZodString {
  return z.string(`Must be a text of 1 to ${max} characters.`)
    .refine((value) => isLength(value, max), rejectedAs(code, `Must have 1 to ${max} characters.`))
    .refine(hasNoControl, rejectedAs(code, "Must not hold control characters or noncharacters of Unicode."))
    .openapi({ minLength: 1, maxLength: max, pattern: TEXT_PATTERN });
}

/** A {@link text} for a person to read, without characters that hide text or change its direction. */
export function shownText(max: number): z.ZodString {
  return text(max).refine(
    isPlain,
    rejectedAs("Field.Invalid", "Must not hold control, invisible or text-direction characters."),
  ).openapi({ description: "Without invisible and text-direction characters." });
}

/** A {@link shownText} that is a name. */
export function personName(max: number): z.ZodString {
  return shownText(max).refine(
    hasVisibleLetter,
    rejectedAs("Field.Invalid", "Must have a letter or digit that can be seen."),
  ).openapi({
    description: "Has a letter or digit that can be seen; without invisible and text-direction characters.",
  });
}

/** A text that matches the pattern. `message` describes the pattern. */
export function patterned(pattern: RegExp, message: string): z.ZodString {
  return z.string(message)
    .refine((value) => pattern.test(value), rejectedAs("Field.Invalid", message))
    .openapi({ pattern: pattern.source });
}

const CURRENCY_RULE = "Must be an active ISO 4217 currency code in capitals, such as EUR.";
const COUNTRY_RULE = "Must be an ISO 3166-1 alpha-2 country code in capitals, such as GB.";

/** An active ISO 4217 code. A separate rule checks whether it is supported. */
export function currencyCode(): z.ZodString {
  return z.string(CURRENCY_RULE)
    .refine(isCurrencyCode, rejectedAs("Field.Invalid", CURRENCY_RULE))
    .openapi({ pattern: "^[A-Z]{3}$", example: "EUR" });
}

/** An assigned ISO 3166-1 alpha-2 code, `UK` or `XK`. */
export function countryCode(): z.ZodString {
  return z.string(COUNTRY_RULE)
    .refine(isCountryCode, rejectedAs("Field.Invalid", COUNTRY_RULE))
    .openapi({ pattern: "^[A-Z]{2}$", example: "GB" });
}

function isLength(value: string, max: number): boolean {
  return value !== "" && [...value].length <= max;
}

/** The control characters of Unicode without those from U+0080 on. */
const CONTROL = /[^\P{Cc}\x80-\x9f]/u;
const NONCHARACTER = /\p{Noncharacter_Code_Point}/u;

/** Whether a text has no control character (C0, DEL) and no noncharacter (contract CF24). */
export function hasNoControl(value: string): boolean {
  return !CONTROL.test(value) && !NONCHARACTER.test(value);
}

// Converts between the members of the API (`InstructedAmount`) and those of the domain (`instructedAmount`). A name
// differs in its first letter, or in `SCA` at its beginning. Values and the order of members stay the same.

/** The name of a domain member in the API. */
type NameOnWire<N extends string> = N extends `sca${infer Rest}` ? `SCA${Rest}` : Capitalize<N>;
/** The name of an API member in the domain. */
type NameInDomain<N extends string> = N extends `SCA${infer Rest}` ? `sca${Rest}` : Uncapitalize<N>;

type Scalar = string | number | boolean | bigint | null | undefined;

/** A domain value with the members of the API. */
export type OnWire<T> = T extends Scalar ? T
  : T extends readonly (infer Element)[] ? readonly OnWire<Element>[]
  : { readonly [Name in keyof T as NameOnWire<Name & string>]: OnWire<T[Name]> };

/** A value of the API with the members of the domain. */
export type InDomain<T> = T extends Scalar ? T
  : T extends readonly (infer Element)[] ? readonly InDomain<Element>[]
  : { readonly [Name in keyof T as NameInDomain<Name & string>]: InDomain<T[Name]> };

export function toWire<T>(value: T): OnWire<T> {
  return renameMembers(value, nameOnWire) as OnWire<T>;
}

/** The value must be decoded, because members that differ in their first letter alone would become one. */
export function fromWire<T>(value: T): InDomain<T> {
  return renameMembers(value, nameInDomain) as InDomain<T>;
}

/** `initiation.creditorAddress[0].townName` on the wire: `Initiation.CreditorAddress[0].TownName`. */
export function pathOnWire(path: string): string {
  return path.split(".").map(nameOnWire).join(".");
}

function renameMembers(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((element) => renameMembers(element, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [rename(name), renameMembers(member, rename)]),
  );
}

function nameOnWire(name: string): string {
  return name.startsWith("sca") ? `SCA${name.slice(3)}` : name.charAt(0).toUpperCase() + name.slice(1);
}

function nameInDomain(name: string): string {
  return name.startsWith("SCA") ? `sca${name.slice(3)}` : name.charAt(0).toLowerCase() + name.slice(1);
}

/** The code of a reason in a response (contract RSN3). */
export const reasonCodeSchema = z.enum(REASON_CODES).optional().openapi({
  description:
    "Why the status is `Rejected`: a code of the list of reasons, which says who can act and whether a " +
    "retry may succeed. Only with that status.",
  example: "AM04",
});

/** The code of a reason in a bank's report (contract RSN3). */
export const reportedReasonCodeSchema = z.enum(BANK_REASON_CODES).optional().openapi({
  description:
    "With Rejected, for the TPP: a code of the list of reasons that has four characters. Without it the " +
    "platform says NARR if there is a text, and MS03 if there is none.",
  example: "AM04",
});

export function representReasonCode(
  { statusReasonCode }: { readonly statusReasonCode?: ReasonCode },
): { readonly StatusReasonCode?: ReasonCode } {
  return statusReasonCode === undefined ? {} : { StatusReasonCode: statusReasonCode };
}

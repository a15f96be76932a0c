/** Fields that several of the directory's requests share: texts, contacts, software addresses, signing requests. */
import { z } from "zod";
import { hasVisibleLetter } from "../../base/kernel/foreign_text.ts";
import { addedParameterIn } from "../../base/values/redirect_url.ts";
import { MAX_REDIRECT_URIS } from "../../base/limits.ts";
import type { Role } from "./participant.ts";
import { type AddressRules, webAddress } from "./web_address.ts";

const MAX_CONTACTS = 20;
const MAX_PEM_CHARACTERS = 8192;
const PHONE = /^\+?[0-9][0-9 ()./-]{3,30}[0-9]$/;

/** Human-readable text: no control, format or private characters (they could disguise a name), no space at the ends. */
export function text(maxCharacters: number): z.ZodType<string> {
  const rule = `must be text of 1 to ${maxCharacters} characters`;
  return z.string(rule).min(1, rule).max(maxCharacters, rule)
    .refine((value) => !/\p{C}|\p{Zl}|\p{Zp}/u.test(value), "must not have control or format characters")
    .refine(hasVisibleLetter, "must have a letter or digit that can be seen")
    .refine((value) => value === value.trim(), "must not begin or end with a space");
}

/** The reason of an action, stored in the history. */
export const reason: z.ZodType<string> = text(256);

const contact = z.strictObject({
  type: z.enum(["business", "technical"], "must be business or technical"),
  name: text(128),
  email: z.email("must be an e-mail address").max(254, "must have at most 254 characters")
    .refine(isMailAddress, "must be an e-mail address that mails can be sent to"),
  phone: z.string("must be a telephone number").regex(
    PHONE,
    "must be a telephone number of digits, with + in front if international",
  ),
});

/** At least one business and one technical contact (contract PN9). */
export const contacts = z.array(contact, "must be a list").max(
  MAX_CONTACTS,
  `must have at most ${MAX_CONTACTS} members`,
)
  .refine((list) => list.some(({ type }) => type === "business"), "must have a business contact")
  .refine((list) => list.some(({ type }) => type === "technical"), "must have a technical contact");

/** A PEM signing request; its proof is verified later. */
export const signingRequestPem: z.ZodType<string> = z.string("must be a PEM certificate signing request")
  .min(1, "must be a PEM certificate signing request")
  .max(MAX_PEM_CHARACTERS, `must have at most ${MAX_PEM_CHARACTERS} characters`);

/** Redirect URLs: at most 4 for third parties, exactly 1 for banks (contract PN11). */
function redirectUris(role: Role, rules: AddressRules): z.ZodType<string[]> {
  const most = MAX_REDIRECT_URIS[role];
  const rule = most === 1 ? "must have exactly 1 member" : `must have 1 to ${most} members`;
  const address = webAddress(rules).superRefine((value, context) => {
    const name = addedParameterIn(value, role);
    if (name === undefined) return;
    const message = `must not have the parameter ${name}, which the platform adds`;
    context.addIssue({ code: "custom", message });
  });
  return z.array(address, "must be a list").min(1, rule).max(most, rule)
    .refine((list) => new Set(list.map(normalForm)).size === list.length, "must not have an address twice");
}

/** The software members of a request, by their wire names. */
type SoftwareFields =
  & {
    readonly [Name in "client_name" | "description" | "version" | "client_uri" | "logo_uri"]: z.ZodType<
      string
    >;
  }
  & { readonly redirect_uris: z.ZodType<string[]> };

/** The software members that a participant of this role may state. */
export function softwareFields(role: Role, rules: AddressRules): SoftwareFields {
  return {
    client_name: text(128),
    description: text(512),
    version: text(32),
    client_uri: webAddress(rules),
    logo_uri: webAddress(rules),
    redirect_uris: redirectUris(role, rules),
  };
}

function normalForm(address: string): string {
  return URL.parse(address)?.href ?? address;
}

/** RFC 5321 §4.1.2 without quoted local parts and without address literals. ASCII alone. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,186}[A-Za-z0-9])?$/;

/** Whether the address can stand in a header and in an SMTP command as it is. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Accounts as they come in over the wire: their fields, and whether an identification fits its scheme. */
import { z } from "@hono/zod-openapi";
import { refusedAs, valueAt } from "../http/decode.ts";
import { text } from "../http/wire_fields.ts";
import { canonicalScheme, identificationFault } from "../kernel/account.ts";
import type { Fault } from "../kernel/refusal.ts";

const MAX_IDENTIFICATION = 256;

const schemeName = z.string()
  .refine(
    (name) => canonicalScheme(name) !== undefined,
    refusedAs("Unsupported.Scheme", "Is not a supported scheme."),
  )
  .openapi({
    minLength: 1,
    maxLength: 40,
    description:
      "UK.OBIE.IBAN, .BBAN, .SortCodeAccountNumber, .PAN, .Paym or .Wallet, or an extension `CC.Name.Value`.",
    example: "UK.OBIE.IBAN",
  });

/** The members that every account has. */
export const accountFields = {
  SchemeName: schemeName,
  Identification: text(MAX_IDENTIFICATION, "Unsupported.AccountIdentifier")
    .openapi({ description: "In the format of the scheme.", example: "GB33BUKB20201555555555" }),
  SecondaryIdentification: text(34, "Unsupported.AccountSecondaryIdentifier").optional(),
};

/** `CreditorAccount`: who is paid. */
export const creditorAccountSchema = z.strictObject({
  ...accountFields,
  Name: text(350).openapi({ example: "Example Shop Ltd" }),
}).openapi("CreditorAccount");

/** `DebtorAccount`: who pays. Its presence makes the consent implicit. */
export const debtorAccountSchema = z.strictObject({
  ...accountFields,
  Name: text(350).optional().openapi({ description: "Never answered to the TPP." }),
}).openapi("DebtorAccount", { description: "The payer's account. Its presence makes the consent implicit." });

/** The fault of an account whose Identification is not one of its (known) scheme; reference 1.7. */
export function identificationFaults(account: unknown, path: string): Fault[] {
  const scheme = valueAt(account, ["SchemeName"]);
  const identification = valueAt(account, ["Identification"]);
  if (typeof scheme !== "string" || typeof identification !== "string") return [];
  if (canonicalScheme(scheme) === undefined) return []; // the scheme is the fault
  const message = identificationFault(scheme, identification);
  return message === undefined
    ? []
    : [{ code: "Unsupported.AccountIdentifier", path: `${path}.Identification`, message }];
}

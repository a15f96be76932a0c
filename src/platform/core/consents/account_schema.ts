/**
 * Accounts in request bodies: their fields, whether the scheme is accepted, and whether the identification has its
 * format.
 */
import { z } from "@hono/zod-openapi";
import { valueAt } from "../../guards/http/decode.ts";
import { personName, text } from "../../guards/http/wire_fields.ts";
import {
  type AccountSchemes,
  identificationFault,
  schemeFault,
} from "../../../base/values/account_schemes.ts";
import type { Fault } from "../../../base/kernel/api_error.ts";

const MAX_IDENTIFICATION = 256;

const schemeName = z.string().openapi({
  minLength: 1,
  maxLength: 40,
  description:
    "A scheme that the platform accepts. The error for any other scheme lists the accepted ones. Usually " +
    "UK.OBIE.IBAN, .BBAN, .SortCodeAccountNumber, .Paym or .Wallet; an operator may add schemes " +
    "`CC.Issuer.Scheme` with a format of letters and digits.",
  example: "UK.OBIE.IBAN",
});

export const accountFields = {
  SchemeName: schemeName,
  Identification: text(MAX_IDENTIFICATION, "Unsupported.AccountIdentifier")
    .openapi({ description: "In the format of the scheme.", example: "GB33BUKB20201555555555" }),
  SecondaryIdentification: text(34, "Unsupported.AccountSecondaryIdentifier").optional(),
};

/** `CreditorAccount`: the payee's account. */
export const creditorAccountSchema = z.strictObject({
  ...accountFields,
  Name: personName(350).openapi({ example: "Example Shop Ltd" }),
}).openapi("CreditorAccount");

/** `DebtorAccount`: the payer's account. Its presence makes the consent implicit. */
export const debtorAccountSchema = z.strictObject({
  ...accountFields,
  Name: personName(350).optional().openapi({
    description: "The payer's name. The bank gets it. In responses to the TPP, only `Refund.Account` has it.",
  }),
}).openapi("DebtorAccount", { description: "The payer's account. Its presence makes the consent implicit." });

/**
 * Reports an account whose scheme is not accepted or whose Identification does not have its format (contract CF20,
 * CF21).
 */
export function accountFaults(account: unknown, path: string, schemes: AccountSchemes): Fault[] {
  const scheme = valueAt(account, ["SchemeName"]);
  if (typeof scheme !== "string") return []; // the schema rejects a missing scheme
  const unsupported = schemeFault(schemes, scheme);
  if (unsupported !== undefined) {
    return [{ code: "Unsupported.Scheme", path: `${path}.SchemeName`, message: unsupported }];
  }
  const identification = valueAt(account, ["Identification"]);
  if (typeof identification !== "string") return [];
  const message = identificationFault(schemes, scheme, identification);
  return message === undefined
    ? []
    : [{ code: "Unsupported.AccountIdentifier", path: `${path}.Identification`, message }];
}

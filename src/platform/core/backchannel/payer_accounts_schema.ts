/**
 * The body of a bank's report of the payer's accounts (contract BF5 to BF11; Decision C11): its schema, which is also
 * its documentation, and its decoding. The consent's status is checked elsewhere.
 */
import { z } from "@hono/zod-openapi";
import { accountFaults, accountFields } from "../consents/initiation_schema.ts";
import type { PayerAccount } from "../consents/consent.ts";
import { decode, valueAt } from "../../guards/http/decode.ts";
import { currencyCode, fromWire, patterned, text } from "../../guards/http/wire_fields.ts";
import {
  type AccountSchemes,
  canonicalScheme,
  isAccountNumberLike,
  ungroup,
} from "../../../base/values/account.ts";
import { asConsentId, type BankCode, type ConsentId } from "../../../base/kernel/identifiers.ts";
import { BALANCE_PATTERN } from "../../../base/values/money.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";

const MAX_ACCOUNTS = 100; // Decision C11

/** A decoded report. `bankId` and `consentId` equal those of the path, in the form that the bank sent. */
export interface PayerAccountsReport {
  readonly bankId: string;
  readonly consentId: string;
  readonly sub: string;
  readonly debtorAccount: readonly PayerAccount[];
}

/**
 * The path of the report, and which screen asks for consent: the platform's accepts any accounts, the bank's only the
 * chosen one.
 */
export interface PayerAccountsContext {
  readonly bank: BankCode;
  readonly consentId: ConsentId;
  readonly mode: "platform" | "bank";
  readonly accountSchemes: AccountSchemes;
  /** The consent's currency, which an account without `Currency` has (contract BF8). */
  readonly currency: string;
}

/** The schema for the OpenAPI document. `decodePayerAccounts` checks more rules. */
export const payerAccountsSchema = z.strictObject({
  Data: z.strictObject({
    BankId: text(32).openapi({ description: "The bank code of the path.", example: "BANKA" }),
    ConsentId: text(128).openapi({ description: "The consent of the path." }),
    Sub: text(70).openapi({
      description: "The bank's name for the payer; never an account number.",
      example: "c-4711",
    }),
    DebtorAccount: z.array(
      z.strictObject({
        ...accountFields,
        Balance: patterned(BALANCE_PATTERN, "Must be a decimal such as 1500.00.").optional(),
        Currency: currencyCode().optional(),
      }).openapi("PayerAccount"),
    ).min(1).max(MAX_ACCOUNTS),
  }),
}).openapi("PayerAccountsUpdate", {
  example: {
    Data: {
      BankId: "BANKA",
      ConsentId: "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
      Sub: "c-4711",
      DebtorAccount: [{
        SchemeName: "UK.OBIE.IBAN",
        Identification: "GB29NWBK60161331926819",
        Balance: "1500.00",
        Currency: "EUR",
      }],
    },
  },
});

/**
 * Decodes a report.
 *
 * @throws {ApiError} `resource.invalid_fields` naming every faulty place; `resource.invalid_format`
 */
export function decodePayerAccounts(value: unknown, context: PayerAccountsContext): PayerAccountsReport {
  const list = valueAt(value, ["Data", "DebtorAccount"]);
  const accounts: readonly unknown[] = Array.isArray(list) ? list : [];
  const rules = [
    ...pathFaults(value, context),
    ...subFaults(valueAt(value, ["Data", "Sub"]), accounts),
    ...countFaults(accounts.length, context.mode),
    ...accounts.flatMap((account, i) =>
      accountFaults(account, `Data.DebtorAccount[${i}]`, context.accountSchemes)
    ),
    ...repetitionFaults(accounts, context.currency),
  ];
  return fromWire(decode(payerAccountsSchema, value, rules).Data);
}

/** Returns the rejection of a report on a consent that names the payer's account. */
export function unexpectedAccounts(): ApiError {
  const message = "The payer's account is in the consent already.";
  const fault = { code: "Field.Unexpected", path: "Data.DebtorAccount", message } as const;
  return new ApiError("resource.invalid_fields", { faults: [fault] });
}

function pathFaults(body: unknown, { bank, consentId }: PayerAccountsContext): Fault[] {
  const faults: Fault[] = []; // the schema rejects absent fields
  const sentBank = valueAt(body, ["Data", "BankId"]);
  if (sentBank !== undefined && sentBank !== bank) {
    faults.push({ code: "Field.Invalid", path: "Data.BankId", message: "Must equal the bank of the path." });
  }
  const sentConsent = valueAt(body, ["Data", "ConsentId"]);
  if (sentConsent !== undefined && asConsentId(sentConsent) !== consentId) {
    faults.push({
      code: "Field.Invalid",
      path: "Data.ConsentId",
      message: "Must equal the consent of the path.",
    });
  }
  return faults;
}

/** The bank's id of the customer must not be an account number (contract BF6). */
function subFaults(sub: unknown, accounts: readonly unknown[]): Fault[] {
  if (typeof sub !== "string") return [];
  const own = accounts.some((account) =>
    ["Identification", "SecondaryIdentification"].some((name) => {
      const number = valueAt(account, [name]);
      return typeof number === "string" && ungroup(number) === ungroup(sub);
    })
  );
  if (!own && !isAccountNumberLike(sub)) return [];
  return [{ code: "Field.Invalid", path: "Data.Sub", message: "Must not be an account number." }];
}

function countFaults(count: number, mode: "platform" | "bank"): Fault[] {
  if (mode === "platform" || count <= 1) return []; // the schema rejects an empty list
  const message = "Must have exactly one element: the account chosen on the bank's screen.";
  return [{ code: "Field.Invalid", path: "Data.DebtorAccount", message }];
}

/** Compares scheme, both numbers and currency: a multi-currency account is one account for each currency (contract BF7). */
function repetitionFaults(accounts: readonly unknown[], currency: string): Fault[] {
  const seen = new Set<string>();
  return accounts.flatMap((account, i): Fault[] => {
    const [scheme, ...rest] = ["SchemeName", "Identification", "SecondaryIdentification"]
      .map((name) => valueAt(account, [name]));
    if (typeof scheme !== "string") return [];
    const key = JSON.stringify([
      canonicalScheme(scheme),
      ...rest,
      valueAt(account, ["Currency"]) ?? currency,
    ]);
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{
      code: "Field.Invalid",
      path: `Data.DebtorAccount[${i}]`,
      message:
        "Repeats an account of the list: SchemeName, Identification, SecondaryIdentification and Currency are equal.",
    }];
  });
}

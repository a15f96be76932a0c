/** The digest of a transaction, computed after docs/contract/front-channel.md#lnk1 without the platform's code. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { SentConsent } from "testing/flows.ts";

export function transactionDigestOf({ Data: { Initiation } }: Pick<SentConsent, "Data">): string {
  const paths = [
    "InstructedAmount.Amount",
    "InstructedAmount.Currency",
    "CreditorAccount.Name",
    "CreditorAccount.SchemeName",
    "CreditorAccount.Identification",
    "CreditorAccount.SecondaryIdentification",
    "DebtorAccount.SchemeName",
    "DebtorAccount.Identification",
    "DebtorAccount.SecondaryIdentification",
  ];
  const values = paths.map((path) =>
    path.split(".").reduce((found: unknown, name) => Object(found)[name], Initiation) ?? null
  );
  return createHash("sha256").update(canonicalize(values) ?? "").digest("base64url");
}

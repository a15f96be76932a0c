/** The digest that binds a bank's authentication to one transaction (contract LNK1; RTS (EU) 2018/389 article 5). */
import { digest } from "../../evidence/digest.ts";
import type { bankInitiation } from "./initiation_representation.ts";

/** The members of `Data.Initiation` that the digest covers. */
export type Linked = Pick<
  ReturnType<typeof bankInitiation>,
  "InstructedAmount" | "CreditorAccount" | "DebtorAccount"
>;

/** Returns SHA-256 of the amount, the payee and, if the TPP named it, the payer's account, base64url. */
export function transactionDigest(
  { InstructedAmount, CreditorAccount: payee, DebtorAccount: payer }: Linked,
): string {
  return digest(JSON.stringify([ // which writes `null` for an absent member
    InstructedAmount.Amount,
    InstructedAmount.Currency,
    payee.Name,
    payee.SchemeName,
    payee.Identification,
    payee.SecondaryIdentification,
    payer?.SchemeName,
    payer?.Identification,
    payer?.SecondaryIdentification,
  ]));
}

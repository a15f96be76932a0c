/** The digest with which a bank proves dynamic linking (contract LNK1; RTS (EU) 2018/389 article 5). */
import type { BankConsent } from "./back_channel.ts";

/**
 * Returns the digest of the amount, the payee and, if the TPP named it, the payer's account: SHA-256, base64url. Compute
 * it of what the customer was shown, and return it in the result.
 */
export async function transactionDigest(
  { InstructedAmount: { Amount, Currency }, CreditorAccount: payee, DebtorAccount: payer }: Pick<
    BankConsent,
    "InstructedAmount" | "CreditorAccount" | "DebtorAccount"
  >,
): Promise<string> {
  const numbers = (account: typeof payer): readonly unknown[] =>
    [account?.SchemeName, account?.Identification, account?.SecondaryIdentification].map((part) =>
      part ?? null
    );
  const text = JSON.stringify([Amount, Currency, payee.Name ?? null, ...numbers(payee), ...numbers(payer)]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true });
}

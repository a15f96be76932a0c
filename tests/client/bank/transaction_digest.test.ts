/** The digest that a bank computes of what its customer was shown. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { transactionDigestOf } from "support/transaction_digest.ts";
import { consentBody, DEBTOR_ACCOUNT, type SentConsent } from "testing/flows.ts";
import { type BankConsent, transactionDigest } from "../../../src/client/bank.ts";

const PAYEE = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "GB33BUKB20201555555555",
  Name: "Example Shop Ltd",
};

function ofBank({ Data: { Initiation } }: SentConsent): Promise<string> {
  return transactionDigest(Initiation as Pick<BankConsent, "InstructedAmount" | "CreditorAccount">);
}

Deno.test("a bank computes the digest of the specification, and another one for each other amount, payee and account [LNK1]", async () => {
  const consents = [
    {},
    { InstructedAmount: { Amount: "165.89", Currency: "EUR" } },
    { InstructedAmount: { Amount: "165.88", Currency: "USD" } },
    { CreditorAccount: PAYEE },
    { CreditorAccount: { ...PAYEE, Name: "Examplé Shop Ltd" } },
    { CreditorAccount: { ...PAYEE, SecondaryIdentification: "7" } },
    { DebtorAccount: DEBTOR_ACCOUNT },
    { DebtorAccount: { ...DEBTOR_ACCOUNT, SecondaryIdentification: "7" } },
  ].map((initiation) => consentBody({ initiation }));
  const digests = await Promise.all(consents.map(ofBank));
  assertEquals(digests, consents.map(transactionDigestOf));
  assertEquals(new Set(digests).size, consents.length);
  const named = consentBody({ initiation: { DebtorAccount: { ...DEBTOR_ACCOUNT, Name: "A. Payer" } } });
  assertEquals(await ofBank(named), digests[6]); // the payer's name is not covered
});

Deno.test("the text of docs/bank.md has the digest of its transaction [LNK1]", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/bank.md", import.meta.url));
  const [, text = ""] = /```text Digest of\n(.*)\n```/.exec(page) ?? [];
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const expected = new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true });
  const shown = { InstructedAmount: { Amount: "19.90", Currency: "EUR" }, CreditorAccount: PAYEE };
  assertEquals(await transactionDigest(shown), expected);
  assertNotEquals(text, "");
});

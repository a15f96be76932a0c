/** Mistakes of a bank: its token, and the payer accounts that it reports. */
import { DEBTOR_ACCOUNT, type Json, requestToken } from "../testing/flows.ts";
import { putAccounts, toBank } from "../testing/authorization_flow.ts";
import { payloadSignature } from "../testing/jwts.ts";
import type { Area, Mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";

/** A report of accounts for a consent whose customer is at the bank. */
async function reporting(
  { env }: Workbench,
  change: { readonly accounts?: Json; readonly data?: Readonly<Record<string, unknown>> },
): Promise<Response> {
  const { consentId } = await toBank(env);
  const { accounts, data = {} } = change;
  return await putAccounts(env, env.bankA, consentId, accounts, { data });
}

function data(
  name: string,
  value: unknown,
  expected: string,
  how: string,
): Mistake {
  return {
    name: `${name} ${how}`,
    part: `Data.${name}`,
    expected,
    make: (bench) => reporting(bench, { data: { [name]: value } }),
  };
}

export const BACK_CHANNEL: Area = {
  name: "back channel",
  role: "bank",
  mistakes: [
    {
      name: "the scope of a TPP",
      part: "scope",
      expected: "'bank'",
      make: ({ env }) => requestToken(env, env.bankA, "BANKA", { form: { scope: "payments" } }),
    },
    {
      name: "a token at another bank's address",
      part: "the bank in the path",
      expected: "'BANKA'",
      make: ({ env }) => requestToken(env, env.bankA, "BANKB"),
    },
    data("BankId", "BANKB", "the bank of the path", "is another bank"),
    data("ConsentId", crypto.randomUUID(), "the consent of the path", "is another consent"),
    data("Sub", "GB33BUKB20201555555555", "account number", "is an account number"),
    data("DebtorAccount", [], "at least 1", "is empty"),
    data("Accounts", [], "not known", "is not a field"),
    {
      name: "a balance as a number",
      part: "Data.DebtorAccount[0].Balance",
      expected: "string",
      make: (bench) =>
        reporting(bench, { accounts: [{ ...DEBTOR_ACCOUNT, Balance: 1000, Currency: "EUR" }] }),
    },
    {
      name: "accounts before the customer has come",
      part: "Data.ConsentId",
      expected: "after the platform has redirected the customer",
      make: async (bench) => await putAccounts(bench.env, bench.env.bankA, await bench.consent()),
    },
    {
      name: "signed with the transport key's kid",
      part: "x-jws-signature kid",
      expected: ({ env }) => `'${env.bankA.signing.kid}'`,
      make: async ({ env }) => {
        const { consentId } = await toBank(env);
        const Data = {
          BankId: "BANKA",
          ConsentId: consentId,
          Sub: "customer-1",
          DebtorAccount: [DEBTOR_ACCOUNT],
        };
        const body = JSON.stringify({ Data });
        const header = { kid: env.bankA.transport.kid };
        const signature = await payloadSignature(env, env.bankA, body, { header });
        return await putAccounts(env, env.bankA, consentId, [], { body, signature });
      },
    },
  ],
};

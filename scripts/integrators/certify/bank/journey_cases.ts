/** Good journeys of each consent type, the results that end them, and the accounts that the bank reports. */
import { z } from "zod";
import { failed, type Outcome, passed } from "../case.ts";
import { openReturn } from "./bank_return.ts";
import type { BankBench, BankCase } from "./bench.ts";
import { transactionDigest } from "../../../../src/client/bank/transaction_digest.ts";
import { handoverClaims, sealed, signed } from "./forge.ts";
import { openAt } from "./handover_cases.ts";
import { CONSENT_CURRENCY, type HookAccount } from "./hook.ts";
import {
  arrive,
  authorise,
  beginJourney,
  beginVisit,
  comeBack,
  consentStatus,
  decide,
  type Journey,
  makeConsent,
} from "./journey.ts";

/** Account numbers with correct check digits: the examples of IBANs that everyone knows, so a bank may use one. */
const OTHERS_ACCOUNTS = ["GB82WEST12345698765432", "GB33BUKB20201555555555", "GB94BARC10201530093459"];

/** An account number that none of the customer's accounts has. */
export function accountOfAnother(accounts: readonly Pick<HookAccount, "Identification">[]): string {
  const own = new Set(accounts.map(({ Identification }) => Identification.replaceAll(" ", "").toUpperCase()));
  const other = OTHERS_ACCOUNTS.find((account) => !own.has(account));
  if (other === undefined) throw new Error("the hook's accounts are the examples of another customer");
  return other;
}

const reportSchema = z.object({
  Data: z.object({
    BankId: z.string(),
    ConsentId: z.string(),
    Sub: z.string(),
    DebtorAccount: z.array(
      z.object({
        SchemeName: z.string(),
        Identification: z.string(),
        Currency: z.string().optional(),
        Balance: z.string().optional(),
      }),
    ),
  }),
});

export const JOURNEY_CASES: readonly BankCase[] = [
  {
    id: "BANK-J01",
    title: "A customer approves an implicit consent, and the TPP gets a code",
    requirement: "PN6, AUT-02",
    run: async (bench) => {
      const [payer] = await bench.hook.payers();
      return await authorised(bench, { debtor: payer?.Identification ?? "" });
    },
  },
  {
    id: "BANK-J02",
    title:
      "A customer approves an explicit consent on the registered consent screen, and the TPP gets a code",
    requirement: "PN7, PN8, AUT-04, AUT-07",
    run: (bench) => authorised(bench, {}),
  },
  {
    id: "BANK-J03",
    title: "The result JWT has the header and claims of the contract, and repeats those of the handover JWT",
    requirement: "RT1 to RT8",
    run: resultIsAsAgreed,
  },
  {
    id: "BANK-J04",
    title: "Each result JWT has a jti of its own, and the customer the same sub",
    requirement: "RT3, RT8",
    run: async (bench) => {
      const seen = [];
      for (let visit = 0; visit < 3; visit++) {
        const journey = await beginVisit(bench);
        seen.push((await openReturn(bench, await decide(bench, journey, "approve"))).claims);
      }
      const [ids, subs] = [new Set(seen.map(({ jti }) => jti)), new Set(seen.map(({ sub }) => sub))];
      const words = `${seen.length} results had ${ids.size} jti and ${subs.size} sub`;
      return ids.size === seen.length && subs.size === 1 ? passed(words) : failed(words);
    },
  },
  {
    id: "BANK-J05",
    title: "The bank's own result JWT is rejected as a handover JWT",
    requirement: "RFC 8725 §3.12",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      const { jws } = await openReturn(bench, await decide(bench, journey, "refuse"));
      const { status } = await openAt(bench, await sealed(bench, jws));
      return status >= 400 && status <= 499 ? passed(`answered ${status}`) : failed(`answered ${status}`);
    },
  },
  {
    id: "BANK-J06",
    title:
      "A bank that claims dynamic linking returns the digest of the amount, the payee and the payer's account",
    requirement: "LNK1, LNK2, RT9",
    run: async (bench) => {
      const [payer] = await bench.hook.payers();
      for (const plan of [{}, { debtor: payer?.Identification ?? "" }]) {
        const linking = await linkingOf(bench, await beginJourney(bench, plan));
        if (linking !== "proven") return linking === "not claimed" ? passed(linking) : failed(linking);
      }
      return await copiesDigest(bench)
        ? failed("the digest of the handover JWT came back, not that of the consent")
        : passed("proven");
    },
  },
  {
    id: "BANK-A01",
    title: "No accounts are reported for an implicit consent",
    requirement: "BF9, BCH-03",
    run: async (bench) => {
      const [payer] = await bench.hook.payers();
      const { consentId } = await authorised(bench, { debtor: payer?.Identification ?? "" });
      const reports = reportsOf(bench, consentId);
      return reports.length === 0 ? passed("no report") : failed(`${reports.length} reports`);
    },
  },
  {
    id: "BANK-A02",
    title:
      "The reported accounts are the customer's own, in the contract's form, with the balances of the bank",
    requirement: "BF5 to BF9, BCH-03",
    run: async (bench) => {
      const { consentId } = await authorised(bench, {});
      return judgeReport(bench, consentId, await bench.hook.accounts());
    },
  },
  {
    id: "BANK-A03",
    title:
      "On the bank's own screen the account that the customer chose is reported alone; else all that can pay",
    requirement: "BF9, PN7, PN8",
    run: async (bench) => {
      const payers = await bench.hook.payers();
      const chosen = payers[1];
      if (chosen === undefined) return failed("the hook has no second account in EUR");
      const { consentId } = await authorise(bench, {}, chosen.Identification);
      const reported = lastReport(bench, consentId)?.Data.DebtorAccount.map(({ Identification }) =>
        Identification
      );
      if (bench.bank.screen === "platform") {
        const missing = payers.filter(({ Identification }) => !reported?.includes(Identification));
        return missing.length === 0
          ? passed(`${reported?.length} accounts`)
          : failed(`${missing.length} are missing`);
      }
      const isChosen = reported?.length === 1 && reported[0] === chosen.Identification;
      return isChosen
        ? passed("the chosen account alone")
        : failed(`${reported?.length ?? 0} accounts, not the chosen one`);
    },
  },
  {
    id: "BANK-A04",
    title: "An implicit consent for an account that is not the customer's is not approved",
    requirement: "PN6",
    run: async (bench) => {
      const debtor = accountOfAnother(await bench.hook.accounts());
      const journey = await beginVisit(bench, { debtor });
      const { error } = await comeBack(bench, journey, await decide(bench, journey, "approve"));
      return error === undefined ? failed("the TPP got a code") : passed(`the TPP got ${error}`);
    },
  },
];

async function authorised(
  bench: BankBench,
  plan: { readonly debtor?: string },
): Promise<Outcome & { readonly consentId: string }> {
  const { consentId } = await authorise(bench, plan);
  const status = await consentStatus(bench, consentId);
  const outcome = status === "Authorized";
  return { consentId, passed: outcome, seen: `the TPP got a code, and the consent is ${status}` };
}

/** What the bank's approval says of dynamic linking. */
async function linkingOf(bench: BankBench, journey: Journey): Promise<string> {
  await arrive(journey);
  const { claims } = await openReturn(bench, await decide(bench, journey, "approve"));
  if (claims.transaction_digest === undefined) return "not claimed";
  const expected = await transactionDigest(journey.request.initiation);
  return claims.transaction_digest === expected ? "proven" : "transaction_digest is of another transaction";
}

/** Whether the bank returns a digest that is not the consent's, because the handover JWT names it. */
async function copiesDigest(bench: BankBench): Promise<boolean> {
  const { consentId } = await makeConsent(bench);
  const foreign = "A".repeat(43);
  const claims = handoverClaims(bench, consentId, { transaction_digest: foreign });
  await openAt(bench, await sealed(bench, await signed(bench, claims)));
  const location = await bench.hook.decide(consentId, "approve");
  return location !== undefined &&
    (await openReturn(bench, location)).claims.transaction_digest === foreign;
}

async function resultIsAsAgreed(bench: BankBench): Promise<Outcome> {
  const [payer] = await bench.hook.payers();
  const journey = await beginVisit(bench, { debtor: payer?.Identification ?? "" });
  const location = await decide(bench, journey, "approve");
  const { claims } = await openReturn(bench, location);
  const expected = { ref_id: journey.consentId, debtor_account_present: "true", status_code: "success" };
  const wrong = Object.entries(expected).filter(([name, value]) =>
    Object.entries(claims).some(([claim, got]) =>
      claim === name && got !== value && !(name === "status_code" && got === "200")
    )
  );
  if (wrong.length > 0) return failed(`wrong: ${wrong.map(([name]) => name).join(", ")}`);
  const { error, why = error } = await comeBack(bench, journey, location);
  return error === undefined
    ? passed("every claim is as agreed")
    : failed(`the platform answered the TPP ${why}`);
}

function reportsOf({ platform: { between } }: BankBench, consentId: string) {
  return between.calls(consentId).filter(({ method, about }) => method === "PUT" && about === "auth");
}

function lastReport(bench: BankBench, consentId: string): z.infer<typeof reportSchema> | undefined {
  const last = reportsOf(bench, consentId).at(-1);
  return last === undefined ? undefined : reportSchema.parse(JSON.parse(last.body));
}

function judgeReport(bench: BankBench, consentId: string, own: readonly HookAccount[]): Outcome {
  const last = lastReport(bench, consentId);
  if (last === undefined) return failed("no accounts were reported");
  const { BankId, ConsentId, Sub, DebtorAccount } = last.Data;
  if (BankId !== bench.bank.code || ConsentId !== consentId) return failed("BankId or ConsentId is wrong");
  if (own.some(({ Identification }) => Sub.includes(Identification))) {
    return failed("Sub has an account number");
  }
  return judgeAccounts(DebtorAccount, own);
}

type ReportedAccount = z.infer<typeof reportSchema>["Data"]["DebtorAccount"][number];

/** Judges reported accounts. An account is its number with its currency, which is the consent's if absent (contract BF7). */
export function judgeAccounts(reported: readonly ReportedAccount[], own: readonly HookAccount[]): Outcome {
  for (const { Identification, Balance, Currency = CONSENT_CURRENCY } of reported) {
    const currencies = own.filter((each) => each.Identification === Identification);
    if (currencies.length === 0) return failed("an account is reported that is not the customer's");
    const account = currencies.find((each) => each.Currency === Currency);
    if (account === undefined) return failed("an account has another currency");
    if (Balance !== undefined && Number(Balance) !== Number(account.Balance)) {
      return failed("an account has another balance than at the bank");
    }
  }
  return passed(`accounts of the customer: ${reported.length}`);
}

/** Parts of the journeys with planted faults. */
import type { BanksEnvironment } from "support/banks_environment.ts";
import type { Payment } from "testing/answers.ts";
import { call, clientToken, DEBTOR_ACCOUNT, good } from "testing/flows.ts";

export const ACCEPTED = "AcceptedSettlementInProcess";

export const IMPLICIT = { DebtorAccount: DEBTOR_ACCOUNT };

export async function consentStatus(
  env: BanksEnvironment,
  consentId: string,
  bank = "BANKA",
): Promise<string> {
  const bound = await clientToken(env, env.tpp, bank);
  const path = `/${bank}/domestic-payment-consents/v1/${consentId}`;
  return (await good<Payment>(call(env, env.tpp, bound, path), 200)).Data.Status;
}

/** The debtor account of a payment, as the TPP sees it. */
import type { PaymentOrder } from "testing/answers.ts";
import { bankCall, orderPath } from "testing/back_channel.ts";
import { consentBody, dpopKey, good, pay } from "testing/flows.ts";
import { type AtBank, codeOf, redeem } from "testing/authorization_flow.ts";
import type { Environment } from "testing/environment.ts";

/** The account that pays in the end, as the bank reads it in the order. */
export async function debtorOf(
  env: Environment,
  flow: AtBank,
  redirect: Response,
  body: ReturnType<typeof consentBody> = consentBody(),
): Promise<PaymentOrder["Data"]["DebtorAccount"]> {
  const code = codeOf(redirect);
  const bank = flow.bank.orgId;
  const { access_token } = await good(redeem(env, { consentId: flow.consentId, code }, { bank }), 200);
  const payment = { token: access_token, key: await dpopKey() };
  const paid = await good(pay(env, { ...flow, payment, body }), 201);
  const path = orderPath(paid.Data.DomesticPaymentId, bank);
  return (await good<PaymentOrder>(bankCall(env, flow.bank, path), 200)).Data.DebtorAccount;
}

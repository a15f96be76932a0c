/** Customers who are late. */
import { clientToken } from "testing/flows.ts";
import { type AtBank, toBank } from "testing/authorization_flow.ts";
import { consentStatus, reportAccounts } from "testing/front_channel.ts";
import type { Environment } from "testing/environment.ts";

export const SESSION_MS = 900_000;

export async function late(
  env: Environment,
  options: Parameters<typeof toBank>[1] = {},
  after = SESSION_MS,
): Promise<AtBank> {
  const flow = await toBank(env, options);
  if (flow.handover.debtor_account_present === "false") await reportAccounts(env, flow);
  env.now += after;
  return flow;
}

/** With a token of its own: late customers outlive tokens. */
export async function statusOf(env: Environment, flow: AtBank): Promise<string> {
  return await consentStatus(env, { ...flow, bound: await clientToken(env, env.tpp, flow.bank.orgId) });
}

/** Customers at the consent screen. */
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, toBank } from "testing/authorization_flow.ts";
import { ACCOUNTS, reportAccounts } from "testing/front_channel.ts";
import type { Environment } from "testing/environment.ts";

export async function toScreen(
  env: Environment,
  options: Parameters<typeof toBank>[1] = {},
  accounts: readonly object[] = ACCOUNTS,
): Promise<{ flow: AtBank; screen: string }> {
  const flow = await toBank(env, options);
  return { flow, screen: await comeToScreen(env, flow, accounts) };
}

export async function comeToScreen(
  env: Environment,
  flow: AtBank,
  accounts: readonly object[] = ACCOUNTS,
): Promise<string> {
  await reportAccounts(env, flow, accounts);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  const screen = (await flow.browser.open(path)).headers.get("location");
  if (screen === null) throw new Error("the bank's return did not lead to the screen");
  return screen;
}

/** A customer at the consent screen. */
import { comeBack } from "support/at_bank.ts";
import type { AtBank } from "testing/authorization_flow.ts";
import { readForm, reportAccounts } from "testing/front_channel.ts";
import type { Environment } from "testing/environment.ts";

export interface Screen {
  readonly screen: string;
  readonly csrf: string;
}

export async function toScreen(env: Environment, flow: AtBank): Promise<Screen> {
  await reportAccounts(env, flow);
  const screen = (await comeBack(env, flow)).headers.get("location") ?? "";
  return { screen, csrf: readForm(await (await flow.browser.open(screen)).text()).csrf };
}

export function post(flow: AtBank, { screen, csrf }: Screen, decision: string): Promise<Response> {
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return flow.browser.open(screen, { method: "POST", body });
}

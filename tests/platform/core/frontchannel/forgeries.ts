/** Decisions at the consent screen. */
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, Browser, toBank } from "testing/authorization_flow.ts";
import { readForm, reportAccounts } from "testing/front_channel.ts";
import type { Environment } from "testing/environment.ts";

export interface Deciding {
  readonly flow: AtBank;
  readonly screen: string;
  readonly csrf: string;
}

export async function toScreen(env: Environment): Promise<Deciding> {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  const screen = (await flow.browser.open(path)).headers.get("location") ?? "";
  return { flow, screen, csrf: readForm(await (await flow.browser.open(screen)).text()).csrf };
}

export function post(
  browser: Browser,
  screen: string,
  { csrf, decision }: { readonly csrf: readonly string[]; readonly decision: string },
): Promise<Response> {
  const body = new URLSearchParams({ decision, account: "0" });
  for (const token of csrf) body.append("csrf", token);
  return browser.open(screen, { method: "POST", body });
}

/** A consent that its customer refuses on the platform's screen. */
import { type AtBank, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { type FlowEnvironment, good } from "testing/flows.ts";

export async function refused(env: FlowEnvironment): Promise<AtBank> {
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const answer = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, answer.headers.get("location") ?? "", "refuse");
  return flow;
}

/** Steps of a customer who is at the bank: the return, the decision on the consent screen, and a second session. */
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { good, push } from "testing/flows.ts";
import { type AtBank, authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import { readForm, reportAccounts } from "testing/front_channel.ts";
import type { JsonObject } from "testing/jwts.ts";
import type { Environment } from "testing/environment.ts";

/** The path of a valid return, or of one with changed claims. */
export async function goodReturn(env: Environment, flow: AtBank, claims: JsonObject = {}): Promise<string> {
  return await sealedReturn(env, flow.bank.orgId, await signedReturn(env, flow, { claims }));
}

/** The bank redirects the customer to the platform. */
export async function comeBack(env: Environment, flow: AtBank, claims: JsonObject = {}): Promise<Response> {
  return await flow.browser.open(await goodReturn(env, flow, claims));
}

/** Another pushed request for the same consent, opened in another browser. */
export async function anotherFlow(env: Environment, flow: AtBank, n = 0): Promise<AtBank> {
  const form = { code_challenge: `${n}`.padStart(42, "D") + "A" };
  const { request_uri } = await good(push(env, flow.consentId, { form }), 201);
  const browser = new Browser(env);
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, request_uri));
  return { ...flow, browser, requestUri: request_uri, handover: claims };
}

/** A customer in front of the consent screen, with the token of its form. */
export async function deciding(env: Environment): Promise<{ flow: AtBank; screen: string; csrf: string }> {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const screen = (await comeBack(env, flow)).headers.get("location") ?? "";
  const { csrf } = readForm(await (await flow.browser.open(screen)).text());
  return { flow, screen, csrf };
}

/** Posts the consent screen's form with the first account. */
export function decide(browser: Browser, screen: string, csrf: string, decision: string): Promise<Response> {
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return browser.open(screen, { method: "POST", body });
}

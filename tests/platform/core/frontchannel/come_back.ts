/** A customer's return from the bank with given claims. */
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import type { AtBank } from "testing/authorization_flow.ts";
import type { JsonObject } from "testing/jwts.ts";
import type { Environment } from "testing/environment.ts";

export async function comeBack(env: Environment, flow: AtBank, claims: JsonObject = {}): Promise<Response> {
  env.now += 1000; // the customer takes a while, and the history is in order of time
  const jws = await signedReturn(env, flow, { claims });
  return await flow.browser.open(await sealedReturn(env, flow.bank.orgId, jws));
}

export async function history(env: Environment, { consentId }: AtBank): Promise<JsonObject[]> {
  const entries = (await env.snapshot()).filter(({ key }) => key[0] === "audit" && key[1] === consentId);
  return entries.map(({ value }) => {
    const { event, actor, reason } = value as JsonObject;
    return { event, actor, reason };
  });
}

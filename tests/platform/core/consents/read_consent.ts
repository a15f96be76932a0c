/** A consent, as its TPP reads it. */
import type { Consent } from "testing/answers.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { CONSENTS } from "support/resource_calls.ts";
import type { Environment } from "testing/environment.ts";

/** The consent's Data as its TPP reads it now; tokens come and go with the time. */
export async function read(env: Environment, consentId: string): Promise<Consent["Data"]> {
  const token = await clientToken(env, env.tpp);
  return (await good<Consent>(call(env, env.tpp, token, `${CONSENTS}/${consentId}`), 200)).Data;
}

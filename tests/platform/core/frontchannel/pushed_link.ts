/** A pushed request of an implicit consent. */
import { clientToken, createConsent, good, push } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";
import { IMPLICIT } from "testing/bank_return.ts";

export async function pushed(env: Environment, bank = "BANKA"): Promise<string> {
  const bound = await clientToken(env, env.tpp, bank);
  const { Data } = await createConsent(env, bound, IMPLICIT, bank);
  return (await good(push(env, Data.ConsentId, { bank }), 201)).request_uri;
}

/** A customer's link to a bank, opened repeatedly: whether the platform redirects the customer there. */
import { IMPLICIT } from "testing/bank_return.ts";
import { type BoundToken, createConsent, good, push } from "testing/flows.ts";
import { authorize, Browser } from "testing/authorization_flow.ts";
import type { Environment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";

/** A link that a TPP sent its customer. */
export interface Link {
  readonly requestUri: string;
  readonly consentId: string;
  readonly bank: Environment["bankA"];
  readonly bound: BoundToken;
}

/** A new consent with its pushed request. */
export async function pushed(env: Environment, code: "BANKA" | "BANKB"): Promise<Link> {
  const bank = code === "BANKA" ? env.bankA : env.bankB;
  const bound = await sharedToken(env, env.tpp, code);
  const consentId = (await createConsent(env, bound, IMPLICIT, code)).Data.ConsentId;
  const { request_uri } = await good(push(env, consentId, { bank: code }), 201);
  return { requestUri: request_uri, consentId, bank, bound };
}

/** Opens the link in a browser of its own. */
export function depart(env: Environment, { requestUri, bank }: Link): Promise<Response> {
  return authorize(new Browser(env), env.tpp, requestUri, bank.orgId);
}

/** Returns whether the customer is redirected to the bank. */
export async function leavesForBank(env: Environment, link: Link): Promise<boolean> {
  const location = (await depart(env, link)).headers.get("location") ?? "";
  return location.startsWith(`${link.bank.redirectUris[0]}?oAuthUrl=`);
}

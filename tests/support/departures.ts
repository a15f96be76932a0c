/** A customer's link to a bank, opened as often as a test asks: whether the platform sends the customer there. */
import { IMPLICIT } from "../../scripts/testing/bank_return.ts";
import { authorize, Browser, clientToken, createConsent, good, push } from "../../scripts/testing/flows.ts";
import type { World } from "../../scripts/testing/environment.ts";

/** What a TPP gave its customer. */
export interface Link {
  readonly requestUri: string;
  readonly consentId: string;
  readonly bank: World["bankA"];
  readonly bound: Awaited<ReturnType<typeof clientToken>>;
}

/** A new consent with its pushed request. */
export async function pushed(world: World, code: "BANKA" | "BANKB"): Promise<Link> {
  const bank = code === "BANKA" ? world.bankA : world.bankB;
  const bound = await clientToken(world, world.tpp, code);
  const consentId = (await createConsent(world, bound, IMPLICIT, code)).Data.ConsentId;
  const { request_uri } = await good(push(world, consentId, { bank: code }), 201);
  return { requestUri: request_uri, consentId, bank, bound };
}

/** Opens the link in a browser of its own. */
export function depart(world: World, { requestUri, bank }: Link): Promise<Response> {
  return authorize(new Browser(world), world.tpp, requestUri, bank.orgId);
}

/** Whether the customer is sent to the bank. */
export async function leavesForBank(world: World, link: Link): Promise<boolean> {
  const location = (await depart(world, link)).headers.get("location") ?? "";
  return location.startsWith(`${link.bank.redirectUris[0]}?oAuthUrl=`);
}

/** Requests for lists of consents and payments, in tests. */
import { type BoundToken, call, clientToken, good, type Json } from "testing/flows.ts";
import type { Environment } from "testing/environment.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";

/** The member of `Data` that has the entries, and the member that is their id. */
export const LISTS = {
  Consent: { path: CONSENTS, id: "ConsentId" },
  Payment: { path: PAYMENTS, id: "DomesticPaymentId" },
} as const;
export type ListName = keyof typeof LISTS;

export type Query = Record<string, string> | [string, string][];

export function request(
  env: Environment,
  name: ListName,
  query: Query = {},
  { caller = env.tpp, bank = "BANKA", token }: {
    caller?: Environment["tpp"];
    bank?: string;
    token?: BoundToken;
  } = {},
): Promise<Response> {
  const asked = new URLSearchParams(query).toString();
  const path = LISTS[name].path.replace("BANKA", bank) + (asked === "" ? "" : `?${asked}`);
  return (async () => await call(env, caller, token ?? await clientToken(env, caller, bank), path))();
}

export async function list(...args: Parameters<typeof request>): Promise<Json> {
  return (await good(request(...args), 200)).Data;
}

/** The ids of a page. */
export async function idsOf(...args: Parameters<typeof request>): Promise<readonly string[]> {
  const [, name] = args;
  return (await list(...args))[name].map((one: Json) => one[LISTS[name].id]);
}

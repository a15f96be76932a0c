/** Requests for lists of consents and payments, in tests. */
import type { ConsentList } from "testing/answers.ts";
import { type BoundToken, call, clientToken, good } from "testing/flows.ts";
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

/** `Data` of a page. */
export type Page<N extends ListName> = Readonly<Record<N, readonly Entry[]>> & {
  readonly After?: string;
};

type Rest = Parameters<typeof request> extends [unknown, unknown, ...infer Others] ? Others : never;

export type Entry =
  & Omit<ConsentList["Data"]["Consent"][number], "Status">
  & { readonly Status: string; readonly DomesticPaymentId?: string };

export async function list<N extends ListName>(env: Environment, name: N, ...rest: Rest): Promise<Page<N>> {
  return (await good<{ Data: Page<N> }>(request(env, name, ...rest), 200)).Data;
}

/** The ids of a page. */
export async function idsOf<N extends ListName>(env: Environment, name: N, ...rest: Rest): Promise<string[]> {
  const page = await list(env, name, ...rest);
  return page[name].map((one) => one[LISTS[name].id] ?? "");
}

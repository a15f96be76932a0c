/** Every page of the sandbox's banks in every state, drawn by the banks' own code for a customer who got there. */
import { ALICE_EUR_AT_BANKA } from "../../src/sandbox/bank/customers.ts";
import { toBank } from "testing/authorization_flow.ts";
import { ALICE, BankBrowser, CODE } from "./bank_browser.ts";
import { arrive, type BanksEnvironment, openBanksEnvironment } from "./banks_environment.ts";
import { consentFrom, sealHandover } from "./bank_visits.ts";

/** Asks for a page in a language, as the browser that belongs there. */
export type Ask = (language: string) => Promise<Response>;

/** The banks' pages by name, and what ends their environments. */
export interface BankPages extends AsyncDisposable {
  readonly pages: ReadonlyMap<string, Ask>;
  readonly env: BanksEnvironment;
}

type Entries = readonly (readonly [formId: string, fields: Readonly<Record<string, string>>])[];

const LOGIN: Entries = [["login", ALICE]];
const PAST_CODE: Entries = [...LOGIN, ["otp", CODE]];
const WRONG_LOGIN: Entries = [["login", { ...ALICE, password: "wrong" }]];
const WRONG_CODE: Entries = [...LOGIN, ["otp", { ...CODE, code: "000000" }]];
const NO_ACCOUNT: Entries = [...PAST_CODE, ["consent", { decision: "accept", account: "none" }]];

/** Fresh environments with a visit at each step. */
export async function bankPages(): Promise<BankPages> {
  const [env, broken] = [await openBanksEnvironment(), await openBanksEnvironment()];
  broken.inPlaceOfPlatform = () => new Response(null, { status: 503 });
  const visit = (entries: Entries, account?: string): Promise<Ask> => visitAt(env, entries, account);
  const [home, foreign] = [new BankBrowser(env.banks), new BankBrowser(env.banks)];
  const plain = (path: string): Ask => (language) => ask(home, path, language);
  const { visit: left } = await arrive(env, { bank: env.bankB });
  const post = (fields: Record<string, string>): Ask => (language) =>
    ask(left, left.path, language, { method: "POST", body: new URLSearchParams(fields) });
  const arrival = `/BANKA/sca?oAuthUrl=${await sealHandover(broken, await toBank(broken))}`;
  const pages = new Map<string, Ask>([
    ["bank-login", await visit([])],
    ["bank-login-wrong", await visit(WRONG_LOGIN)],
    ["bank-code", await visit(LOGIN)],
    ["bank-code-wrong", await visit(WRONG_CODE)],
    ["bank-code-last", await visit(LOGIN, ALICE_EUR_AT_BANKA)],
    ["bank-consent", await visit(PAST_CODE)],
    ["bank-consent-none", await visit(NO_ACCOUNT)],
    ["bank-home-a", plain("/BANKA")],
    ["bank-home-b", plain("/BANKB")],
    ["bank-list", plain("/")],
    ["bank-not-found", plain("/nowhere")],
    ["bank-link", plain("/BANKA/sca?oAuthUrl=x")],
    ["bank-form", post({ csrf: "forged" })],
    ["bank-form-long", post({ filler: "x".repeat(9000) })],
    ["bank-over", (language) => ask(foreign, left.path, language)],
    ["bank-unavailable", (language) => ask(new BankBrowser(broken.banks), arrival, language)],
  ]);
  return {
    pages,
    env,
    async [Symbol.asyncDispose]() {
      for (const each of [env, broken]) await each[Symbol.asyncDispose]();
    },
  };
}

/** Bank B has the consent screen; only bank A has the account. */
async function visitAt(env: BanksEnvironment, entries: Entries, account: string | undefined): Promise<Ask> {
  const bank = account === undefined ? env.bankB : env.bankA;
  const { visit: browser } = await arrive(env, { bank, body: consentFrom(account) });
  for (const [formId, fields] of entries) await browser.submit(formId, fields);
  const { path } = browser;
  return (language) => ask(browser, path, language);
}

async function ask(
  browser: BankBrowser,
  path: string,
  language: string,
  init: RequestInit = {},
): Promise<Response> {
  const { html, status, headers } = await browser.send(path, {
    ...init,
    headers: { "accept-language": language },
  });
  browser.path = path;
  return new Response(html, { status, headers });
}

/** A customer with a browser: from the TPP's link to the bank, perhaps to the platform's screen, and to an end. */
import { Cookies } from "../../testing/cookies.ts";
import { customersOf } from "../../../src/sandbox/bank/customers.ts";
import { type Answer, freshId, type Line, Lost, send, type Sent } from "./calls.ts";
import { openedClaims, sealedJwt } from "./jwts.ts";
import { AUTH, BANKS, type Party, PLATFORM_ENCRYPTION } from "./parties.ts";
import type { CustomerPlan, SimulatedPayment } from "./plan.ts";
import { seconds } from "./requests.ts";
import { callResource } from "./tokens.ts";

/** Where a customer has ended. */
export type Ending =
  | { readonly at: "tpp"; readonly parameters: URLSearchParams }
  | { readonly at: "page"; readonly hasNextUrl: boolean; readonly heading: string }
  /** No answer came, however often the page was loaded again. */
  | { readonly at: "nowhere" };

interface Visit {
  readonly line: Line;
  readonly plan: SimulatedPayment;
  readonly bank: Party;
  readonly redirectUri: string;
  readonly cookies: Cookies;
}

const MAX_RELOADS = 12;
const MAX_PAGES = 8;
const WAITING = "authorization.waiting.oauth2";

/** Opens the TPP's link and goes on until the end. */
export async function visitPlatform(
  line: Line,
  plan: SimulatedPayment,
  redirectUri: string,
  path: string,
): Promise<Ending> {
  const bank = BANKS[plan.bank];
  if (bank === undefined) throw new Error(`no bank ${plan.bank}`);
  const visit: Visit = { line, plan, bank, redirectUri, cookies: new Cookies() };
  let next: Sent | undefined = { method: "GET", path };
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await load(visit, next);
    if (answer === undefined) return { at: "nowhere" };
    const location = answer.headers.get("location");
    if (location === null && answer.status !== 200) return pageEnding(answer);
    if (location?.startsWith(redirectUri)) return { at: "tpp", parameters: new URL(location).searchParams };
    await pauseOf(visit);
    next = await nextClick(visit, location, answer, next.path);
    if (next === undefined) return { at: "nowhere" };
  }
  return { at: "nowhere" };
}

function pauseOf({ line, plan }: Visit): Promise<void> {
  return line.simulation.scheduler.sleep(plan.customer.pause);
}

/** To the bank, to the platform's screen, or the decision on it. */
async function nextClick(
  visit: Visit,
  location: string | null,
  { text }: Answer,
  path: string,
): Promise<Sent | undefined> {
  if (location?.startsWith(visit.bank.redirectUri)) {
    const returned = await visitBank(visit, new URL(location).searchParams.get("oAuthUrl") ?? "");
    return returned === undefined ? undefined : { method: "GET", path: returned };
  }
  if (location !== null) return { method: "GET", path: location.replace(AUTH, "") };
  if (path.includes(WAITING)) return { method: "GET", path }; // it waits
  const csrf = /name="csrf"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="csrf"/.exec(text);
  const decision = visit.plan.customer.refuses ? "refuse" : "accept";
  return {
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams({ csrf: csrf?.[1] ?? csrf?.[2] ?? "", decision, account: "0" })),
  };
}

/** Loads a page; again if no answer comes or the platform is in trouble. */
async function load(visit: Visit, sent: Sent): Promise<Answer | undefined> {
  const { line, plan, cookies } = visit;
  const { scheduler } = line.simulation;
  for (let reload = 0; reload < MAX_RELOADS; reload++) {
    try {
      const cookie = cookies.size === 0 ? {} : { cookie: cookies.header() };
      const request = { ...sent, headers: { ...sent.headers, accept: "text/html", ...cookie } };
      const loads = plan.customer.clicksTwice
        ? [send(line, request), send(line, request)]
        : [send(line, request)];
      const answer = await Promise.any(loads);
      cookies.keep(answer.headers);
      if (answer.status < 500) return answer;
    } catch (error) {
      const isLost = error instanceof Lost || error instanceof AggregateError;
      if (!isLost) throw error;
    }
    await scheduler.sleep(1000 * 2 ** reload);
  }
  return undefined;
}

function pageEnding({ text }: Answer): Ending {
  const heading = (/<h1[^>]*>(.*?)<\/h1>/.exec(text)?.[1] ?? "").replaceAll(/<[^>]*>/g, "");
  return { at: "page", hasNextUrl: /<a class="button" href="/.test(text), heading };
}

/** The bank's pages: reads the consent, asks the customer, reports the accounts; the path of the way back. */
async function visitBank(visit: Visit, oAuthUrl: string): Promise<string | undefined> {
  const { line, bank } = visit;
  const handover = openedClaims(oAuthUrl, [bank.encryption, bank.transport]);
  const consentId = String(handover["ref_id"]);
  const isExplicit = handover["debtor_account_present"] === "false";
  const path = `/${bank.orgId}/back-channel-auth/v1/${consentId}`;
  await callResource(line, { who: bank, method: "GET", path });
  await pauseOf(visit);
  const refuses = visit.plan.customer.refuses && !(isExplicit && !bank.consentManagedByBank);
  if (isExplicit && !refuses) {
    const body = {
      Data: { BankId: bank.orgId, ConsentId: consentId, Sub: "customer", DebtorAccount: accountsOf(bank) },
    };
    const put = await callResource(line, { who: bank, method: "PUT", path, body });
    if (put.status >= 400 && isPrompt(visit.plan.customer)) return undefined; // the consent is decided or late
  }
  const result = sealedResult(visit, handover, refuses ? "failure" : "success");
  const back = `/${bank.orgId}/authorization.sca.oauth2?${new URLSearchParams({ oAuthUrl: result })}`;
  return await isDelivered(visit, result)
    ? `/${bank.orgId}/${WAITING}?flow=${handover["correlation_id"]}`
    : back;
}

/** Some customers confirm on another device. The bank delivers, sometimes twice at once, and may have lost the answer. */
async function isDelivered(visit: Visit, sealed: string): Promise<boolean> {
  const { line, bank } = visit;
  const random = line.simulation.random(`deliveries of ${bank.orgId}`);
  if (!random.chance(0.4)) return false;
  const path = `/${bank.orgId}/authorization-results/v1`;
  const deliver = (): Promise<Answer> => callResource(line, { who: bank, method: "POST", path, sealed });
  const answers = await Promise.all(random.chance(0.3) ? [deliver(), deliver()] : [deliver()]);
  const statuses = answers.map(({ status }) => status);
  if (new Set(statuses).size > 1 && isPrompt(visit.plan.customer) && !line.simulation.isClockWrong()) {
    line.simulation.violated("a delivery has one answer", `${statuses} for ${path}`);
  }
  return statuses.every((status) => status === 200) && random.chance(0.7); // others return in the browser too
}

/** Whether the customer is so quick that no deadline can have passed. */
function isPrompt({ pause }: CustomerPlan): boolean {
  return pause < 60_000;
}

function accountsOf(bank: Party): readonly object[] {
  const accounts = customersOf(bank.orgId)[0]?.accounts ?? [];
  return accounts.slice(0, bank.consentManagedByBank ? 1 : 2).map((account) => ({
    SchemeName: account.schemeName,
    Identification: account.identification,
    Balance: (account.openingMinorUnits / 100).toFixed(2),
    Currency: account.currency,
  }));
}

function sealedResult(
  { line, bank }: Visit,
  handover: Readonly<Record<string, unknown>>,
  code: string,
): string {
  const random = line.simulation.random(`returns of ${bank.orgId}`);
  const iat = seconds(line.simulation);
  const claims = {
    iss: bank.orgId,
    aud: AUTH,
    iat,
    nbf: iat,
    exp: iat + 300,
    jti: freshId(random),
    debtor_account_present: handover["debtor_account_present"],
    ref_id: handover["ref_id"],
    correlation_id: handover["correlation_id"],
    bank_id: bank.orgId,
    status: "completed",
    status_code: code,
    sub: "customer",
  };
  const fresh = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.below(256));
  return sealedJwt(bank.signing, PLATFORM_ENCRYPTION, claims, fresh);
}

/**
 * A customer without a browser: follows the TPP's link, logs in at the bank, confirms with the one-time code,
 * accepts or rejects, and comes back. Knows the pages only by their forms, as anything that drives a browser
 * does.
 */
import { type Browser, openBrowser, type Visit } from "./browser.ts";
import { fillForm, findForms, firstHeading, type HtmlForm } from "./forms.ts";

/** The customer's planned actions. */
export interface CustomerPlan {
  readonly startUrl: string;
  /** Where the TPP waits; never visited. Absent: the first address that is neither the platform's nor a bank's. */
  readonly redirectUri?: string;
  /** The form at which the customer rejects. */
  readonly rejectAt?: "login" | "otp" | "consent";
  /** User name at the bank; default `alice`. */
  readonly username?: string;
  /** The mistake that a bank of the sandbox makes with this customer's return. */
  readonly fault?: string;
}

/** One page or redirect on the way, for the demo's report. */
export interface CustomerStep {
  readonly visit: Visit;
  /** The form that was on the page. */
  readonly form?: string;
  /** The customer's action on this page. */
  readonly action?: string;
}

/** A page that a customer cannot go on from. */
export class CustomerStopped extends Error {
  override readonly name = "CustomerStopped";
  constructor(readonly visit: Visit) {
    const { url, status, page } = visit;
    super(`${url.origin}${url.pathname} answered ${status} ${firstHeading(page)}, no next page`);
  }
}

interface Answer {
  readonly action: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly decision: string;
}

const maxVisits = 25;

/**
 * Goes the customer's whole way and returns the address the browser was finally sent to at the TPP.
 * @throws {CustomerStopped} when a page is not one a customer can go on from
 * @throws {Error} if the way has no end, or no account can pay
 */
export async function goThroughAuthorization(
  plan: CustomerPlan,
  report: (step: CustomerStep) => void,
): Promise<URL> {
  const browser = openBrowser();
  let visit = await browser.visit(new URL(plan.startUrl));
  const home = visit.url.origin;
  const known = new Set([home]);
  for (let count = 1; count < maxVisits; count++) {
    if (visit.location !== undefined) {
      report({ visit });
      if (isHandover(visit, home)) known.add(visit.location.origin);
      if (isReturn(visit.location, plan, known)) return visit.location;
      visit = await browser.visit(visit.location);
    } else {
      visit = await answerForm(browser, visit, { ...plan, home }, report);
    }
  }
  throw new Error(`The customer was not back after ${maxVisits} pages`);
}

async function answerForm(
  browser: Browser,
  visit: Visit,
  plan: CustomerPlan & { readonly home: string },
  report: (step: CustomerStep) => void,
): Promise<Visit> {
  const form = findForms(visit.page).find(({ id }) => ["login", "otp", "consent"].includes(id));
  if (visit.status !== 200 || form === undefined) throw new CustomerStopped(visit);
  const answer = answerTo(form, plan);
  report({ visit, form: form.id, action: answer.action });
  const body = fillForm(form, answer.choices, { name: "decision", value: answer.decision });
  if (plan.fault !== undefined && visit.url.origin !== plan.home) body.set("fault", plan.fault);
  return await browser.submit(new URL(form.action, visit.url), body, visit.url);
}

function answerTo(form: HtmlForm, { rejectAt, username = "alice" }: CustomerPlan): Answer {
  if (form.id === rejectAt) return { action: "refuses", choices: {}, decision: "refuse" };
  if (form.id === "login") {
    return {
      action: `logs in as ${username}`,
      choices: { username, password: "sandbox" },
      decision: "continue",
    };
  }
  if (form.id === "otp") {
    return { action: "enters the one-time code", choices: { code: "123456" }, decision: "confirm" };
  }
  return accept(form);
}

/**
 * Accepts with the preselected account, else with the first selectable one. A page without accounts needs no choice.
 */
function accept(form: HtmlForm): Answer {
  const accounts = form.fields.filter(({ name }) => name === "account");
  const able = accounts.filter(({ disabled }) => !disabled);
  const account = able.find(({ checked }) => checked) ?? able[0];
  if (accounts.length > 0 && account === undefined) {
    throw new Error("None of the customer's accounts can pay");
  }
  const choices: Record<string, string> = account === undefined ? {} : { account: account.value };
  return { action: "chooses an account and accepts", choices, decision: "accept" };
}

/** The platform sends the customer to a bank. A redirect to a TPP has `iss`, whatever the TPP's own query has. */
function isHandover({ url, location }: Visit, home: string): boolean {
  const query = location?.searchParams;
  return url.origin === home && query?.has("oAuthUrl") === true && !query.has("iss");
}

function isReturn(location: URL, { redirectUri }: CustomerPlan, known: ReadonlySet<string>): boolean {
  return redirectUri === undefined
    ? !known.has(location.origin)
    : `${location.origin}${location.pathname}` === redirectUri;
}

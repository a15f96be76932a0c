/**
 * The customer of the demo: follows the TPP's link, logs in at the bank, confirms with the one-time code,
 * accepts or rejects, and comes back. Knows the pages only by their forms, as anything that drives a browser
 * does.
 */
import { type Browser, openBrowser, type Visit } from "./browser.ts";
import { fillForm, findForms, firstHeading, type HtmlForm } from "./forms.ts";

/** The customer's planned actions. `rejectAt`: the form at which the customer rejects. */
export interface CustomerPlan {
  readonly startUrl: string;
  /** Where the TPP waits; never visited. */
  readonly redirectUri: string;
  readonly rejectAt?: "otp" | "consent";
}

/** One page or redirect on the way, for the demo's report. */
export interface CustomerStep {
  readonly visit: Visit;
  /** The form that was on the page. */
  readonly form?: string;
  /** The customer's action on this page. */
  readonly action?: string;
}

interface Answer {
  readonly action: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly decision: string;
}

const maxVisits = 25;

/**
 * Goes the customer's whole way and returns the address the browser was finally sent to at the TPP.
 * @throws {Error} when a page is not one a customer can go on from.
 */
export async function goThroughAuthorization(
  plan: CustomerPlan,
  report: (step: CustomerStep) => void,
): Promise<URL> {
  const browser = openBrowser();
  let visit = await browser.visit(new URL(plan.startUrl));
  for (let count = 1; count < maxVisits; count++) {
    if (visit.location !== undefined) {
      report({ visit });
      if (isReturn(visit.location, plan.redirectUri)) return visit.location;
      visit = await browser.visit(visit.location);
    } else {
      visit = await answerForm(browser, visit, plan, report);
    }
  }
  throw new Error(`The customer was not back after ${maxVisits} pages`);
}

async function answerForm(
  browser: Browser,
  visit: Visit,
  plan: CustomerPlan,
  report: (step: CustomerStep) => void,
): Promise<Visit> {
  const form = findForms(visit.page).find(({ id }) => ["login", "otp", "consent"].includes(id));
  if (visit.status !== 200 || form === undefined) {
    const heading = firstHeading(visit.page);
    throw new Error(
      `${visit.url.origin}${visit.url.pathname} answered ${visit.status} ${heading}, no next page`,
    );
  }
  const answer = answerTo(form, plan);
  report({ visit, form: form.id, action: answer.action });
  const body = fillForm(form, answer.choices, { name: "decision", value: answer.decision });
  return await browser.submit(new URL(form.action, visit.url), body, visit.url);
}

function answerTo(form: HtmlForm, { rejectAt }: CustomerPlan): Answer {
  const isRejected = form.id === rejectAt;
  if (form.id === "login") {
    return {
      action: "logs in as alice",
      choices: { username: "alice", password: "sandbox" },
      decision: "continue",
    };
  }
  if (form.id === "otp") {
    if (isRejected) return { action: "refuses", choices: {}, decision: "refuse" };
    return { action: "enters the one-time code", choices: { code: "123456" }, decision: "confirm" };
  }
  if (isRejected) return { action: "refuses", choices: {}, decision: "refuse" };
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

function isReturn(location: URL, redirectUri: string): boolean {
  return `${location.origin}${location.pathname}` === redirectUri;
}

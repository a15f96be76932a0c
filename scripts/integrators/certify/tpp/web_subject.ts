/**
 * A TPP that is a web shop: the certifier's browser opens its start page, posts the first form if there is one, follows
 * its redirect to the platform, and comes back. The shop says on its page how the payment ended.
 */
import { type Browser, openBrowser, type Visit } from "../../../../src/sandbox/customer/browser.ts";
import { fillForm, findForms, firstHeading, type HtmlForm } from "../../../../src/sandbox/customer/forms.ts";
import { customerOf, type Ended, type Errand, isLink, type Said, type Subject } from "./subject.ts";

/** Where the shop is. */
export interface WebSettings {
  /** The page that begins a payment; `{bank}` stands for the bank's code. */
  readonly startUrl: string;
  readonly authUrl: string;
}

/** Redirects and forms that the browser follows. */
const MAX_PAGES = 12;
/** How long a page may say `pending`, and how often it is opened again. */
const PENDING_MILLISECONDS = 20_000;
const RELOAD_MILLISECONDS = 500;

const WORDS: readonly Said[] = ["paid", "rejected", "failed", "unknown", "pending"];

/** A TPP whose customers use this browser. */
export function webSubject(settings: WebSettings): Subject {
  return { pay: (errand) => shop(settings, errand) };
}

async function shop({ startUrl, authUrl }: WebSettings, errand: Errand): Promise<Ended> {
  const browser = openBrowser();
  const start = new URL(startUrl.replaceAll("{bank}", encodeURIComponent(errand.bank)));
  let visit = await browser.visit(start);
  for (let pages = 1; pages < MAX_PAGES; pages++) {
    const { location } = visit;
    if (location !== undefined && isLink(location.href, authUrl)) {
      const addresses = await customerOf(errand, location);
      const ends = await Promise.all(addresses.map((url) => arrive(browser, url, authUrl)));
      const paid = ends.find(({ said }) => said === "paid"); // either of two returns may be the one that is used
      return { ...(paid ?? ends[0] ?? readOutcome(visit)), link: location };
    }
    const form = location === undefined ? findForms(visit.page).find(isPayable) : undefined;
    if (location !== undefined) visit = await browser.visit(location);
    else if (visit.status !== 200 || form === undefined || saidBy(visit) !== "none") break;
    else visit = await browser.submit(new URL(form.action, visit.url), filled(form, errand.bank), visit.url);
  }
  return { ...readOutcome(visit), link: undefined };
}

/** Opens the shop's redirect URL and what follows, until the shop's page is final. */
async function arrive(browser: Browser, address: URL, authUrl: string): Promise<Omit<Ended, "link">> {
  let visit = await browser.visit(address);
  for (let pages = 1; visit.location !== undefined && pages < MAX_PAGES; pages++) {
    if (isLink(visit.location.href, authUrl)) return { ...readOutcome(visit), beginsAgain: true };
    visit = await browser.visit(visit.location);
  }
  const until = performance.now() + PENDING_MILLISECONDS;
  while (saidBy(visit) === "pending" && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, RELOAD_MILLISECONDS));
    visit = await browser.visit(visit.url);
  }
  return readOutcome(visit);
}

function isPayable({ method, buttons }: HtmlForm): boolean {
  return method === "post" && buttons.length > 0;
}

/** The form as it is, with the bank that the errand names if the form offers it. */
function filled(form: HtmlForm, bank: string): URLSearchParams {
  const [button = { name: "", value: "" }] = form.buttons;
  const choice = form.fields.find(({ type, value }) => type === "radio" && value === bank);
  return fillForm(form, choice === undefined ? {} : { [choice.name]: bank }, button);
}

function readOutcome(visit: Visit): Pick<Ended, "said" | "words"> {
  return { said: saidBy(visit), words: `${visit.status} ${firstHeading(visit.page)}` };
}

/** The word in `data-payment-outcome`. A page of an error says that no payment was made. */
function saidBy({ status, page }: Visit): Said {
  const word = /\sdata-payment-outcome="([a-z]+)"/.exec(page)?.[1];
  return WORDS.find((known) => known === word) ?? (status >= 400 ? "failed" : "none");
}

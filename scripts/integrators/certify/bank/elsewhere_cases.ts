/** A customer confirms on another device: the bank delivers the result, and the browser that began goes on (contract ARS). */
import { openBrowser, type Visit } from "../../../../src/sandbox/customer/browser.ts";
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import { beginVisit, consentStatus, decided, goOn, type Journey, pause } from "./journey.ts";

/** Pages that wait load themselves every 2 seconds, so a second load must lead on. */
const LOADS = 2;
const RELOAD_MS = 2000;

export const ELSEWHERE_CASES: readonly BankCase[] = [
  {
    id: "BANK-E01",
    title: "A customer who confirms on another device goes on in the browser that began",
    requirement: "ARS1, ARS5, ARS6",
    run: ifItDelivers(async (bench) => {
      const { journey, location, deliveries } = await confirmElsewhere(bench);
      if (deliveries.length === 0) return failed("no result was delivered");
      const { visit, loads } = await waitThere(journey, location);
      if (visit.location === undefined) return failed(`the browser still waits after ${loads} loads`);
      const { error } = await goOn(bench, journey, visit);
      const seen = `the TPP got ${error ?? "a code"} after ${loads} loads of the page that waits`;
      return error === undefined ? passed(seen) : failed(seen);
    }),
  },
  {
    id: "BANK-E02",
    title: "The address at which that browser waits leads no other browser on",
    requirement: "ARS5, BR18",
    run: ifItDelivers(async (bench) => {
      const { journey, location } = await confirmElsewhere(bench);
      const { visit } = await waitThere({ browser: openBrowser() }, location);
      const status = await consentStatus(bench, journey.consentId);
      const seen = `another browser got ${visit.status}, and the consent is ${status}`;
      return visit.location === undefined && status === "AwaitingAuthorisation" ? passed(seen) : failed(seen);
    }),
  },
  {
    id: "BANK-E03",
    title: "A result whose delivery got no answer is delivered again, the same text",
    requirement: "ARS3",
    run: ifItDelivers(async (bench) => {
      bench.platform.between.failNext("POST", bench.bank.code, true);
      const { journey, location, deliveries } = await confirmElsewhere(bench);
      if (deliveries.length < 2) return failed(`delivered ${deliveries.length} times`);
      if (new Set(deliveries).size > 1) return failed("the second delivery is another JWT");
      const { visit } = await waitThere(journey, location);
      if (visit.location === undefined) return failed("the browser still waits");
      const { error } = await goOn(bench, journey, visit);
      return error === undefined ? passed("the same JWT again, and the TPP got a code") : failed(error);
    }),
  },
];

/** Nothing is asked of a bank whose customers always confirm in the browser that began. */
function ifItDelivers(run: BankCase["run"]): BankCase["run"] {
  return async (bench): Promise<Outcome> =>
    bench.bank.deliversResults
      ? await run(bench)
      : passed("not asked: the bank's statement has no results_on_back_channel");
}

interface Confirmed {
  readonly journey: Journey;
  /** Where the browser that began waits. */
  readonly location: URL;
  /** The results that the bank has delivered for it. */
  readonly deliveries: readonly string[];
}

async function confirmElsewhere(bench: BankBench): Promise<Confirmed> {
  const { platform: { between }, bank: { code } } = bench;
  const journey = await beginVisit(bench);
  const before = between.calls(code).length;
  const location = await decided(bench, journey, "approve_elsewhere");
  return { journey, location, deliveries: between.calls(code).slice(before).map(({ body }) => body) };
}

async function waitThere(
  { browser }: Pick<Journey, "browser">,
  location: URL,
): Promise<{ readonly visit: Visit; readonly loads: number }> {
  let visit = await browser.visit(location);
  let loads = 1;
  for (; visit.location === undefined && loads < LOADS; loads++) {
    await pause(RELOAD_MS);
    visit = await browser.visit(location);
  }
  return { visit, loads };
}

/** No customer is stranded: refusals, timeouts and failed calls of the back channel lead back to the TPP. */
import { failed, type Outcome, passed } from "../case.ts";
import { openReturn } from "./bank_return.ts";
import type { BankBench, BankCase } from "./bench.ts";
import {
  arrive,
  beginJourney,
  beginVisit,
  comeBack,
  consentStatus,
  decide,
  type Journey,
  pause,
} from "./journey.ts";

const GOOD: readonly string[] = ["success", "200"];

export const WAY_BACK_CASES: readonly BankCase[] = [
  {
    id: "BANK-W01",
    title: "A customer who refuses goes back to the TPP with access_denied",
    requirement: "BR11, BR-N14, AZ-N13",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      return await endsWith(bench, journey, await decide(bench, journey, "refuse"));
    },
  },
  {
    id: "BANK-W02",
    title: "A customer whose visit times out at the bank goes back to the TPP with access_denied",
    requirement: "BR11; Decision G1",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      return await endsWith(bench, journey, await decide(bench, journey, "timeout"));
    },
  },
  {
    id: "BANK-W03",
    title: "A visit is decided once: after a refusal nothing is approved",
    requirement: "BR11; Decision G1",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      const first = await decide(bench, journey, "refuse");
      const again = await bench.hook.decide(journey.consentId, "approve");
      if (again === undefined) return passed("the second decision found no open visit");
      const { claims } = await openReturn(bench, again);
      if (GOOD.includes(claims.status_code)) return failed("the refused visit was approved afterwards");
      return again.href === first.href
        ? passed("the first result again")
        : failed("a second result was signed");
    },
  },
  {
    id: "BANK-W04",
    title: "A customer whose consent cannot be read goes back to the TPP with an error",
    requirement: "BR11; Decision G1",
    run: async (bench) => {
      const journey = await beginJourney(bench);
      for (let call = 0; call < MAX_REPEATS; call++) {
        bench.platform.between.failNext("GET", journey.consentId, false);
      }
      const { location, status } = await arrive(journey);
      if (location?.pathname.endsWith("/authorization.sca.oauth2") !== true) {
        return failed(`the bank answered ${status}, and did not lead back`);
      }
      const { error } = await comeBack(bench, journey, location);
      return error === undefined ? failed("the TPP got a code") : passed(`the TPP got ${error}`);
    },
  },
  {
    id: "BANK-W05",
    title: "If the accounts cannot be reported, the result is no success, and the customer goes back",
    requirement: "BR11, BR12; Decision G1",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      for (let call = 0; call < MAX_REPEATS; call++) {
        bench.platform.between.failNext("PUT", journey.consentId, false);
      }
      const location = await decide(bench, journey, "approve");
      const { claims: { status_code } } = await openReturn(bench, location);
      const { error } = await comeBack(bench, journey, location);
      const seen = `status_code ${status_code}, and the TPP got ${error ?? "a code"}`;
      return GOOD.includes(status_code) || error === undefined ? failed(seen) : passed(seen);
    },
  },
  {
    id: "BANK-W06",
    title: "If the answer to the reported accounts is lost, the customer goes back all the same",
    requirement: "BF10; Decision G1",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      bench.platform.between.failNext("PUT", journey.consentId, true);
      const { error } = await comeBack(bench, journey, await decide(bench, journey, "approve"));
      return passed(`the TPP got ${error ?? "a code"}`);
    },
  },
  {
    id: "BANK-W07",
    title: "A customer who loads the bank's page again after the decision is led the same way back",
    requirement: "BR-N10; Decision G1",
    run: async (bench) => {
      const journey = await beginJourney(bench);
      const page = await arrive(journey);
      const location = await decide(bench, journey, "refuse");
      await pause(50);
      const again = await journey.browser.visit(page.url);
      if (again.location?.href === location.href) return passed("the same redirect");
      return failed(`answered ${again.status} in place of the redirect to the platform`);
    },
  },
];

/** More often than a bank repeats a call for a customer who waits. */
const MAX_REPEATS = 10;

async function endsWith(bench: BankBench, journey: Journey, location: URL): Promise<Outcome> {
  const { claims: { status_code } } = await openReturn(bench, location);
  const { error, why = error } = await comeBack(bench, journey, location);
  const status = await consentStatus(bench, journey.consentId);
  const seen = `status_code ${status_code}, the TPP got ${why ?? "a code"}, and the consent is ${status}`;
  return error === "access_denied" && status === "Rejected" ? passed(seen) : failed(seen);
}

/** A handover JWT is used once: while its visit is open, after its end, and at the same moment. */
import { failed, passed } from "../case.ts";
import type { BankCase } from "./bench.ts";
import { openAt } from "./handover_cases.ts";
import { beginJourney, beginVisit, comeBack, decide } from "./journey.ts";

const PARALLEL = 5;

export const REPLAY_CASES: readonly BankCase[] = [
  {
    id: "BANK-H25",
    title: "A handover JWT that opened a visit is rejected in another browser, and the visit goes on",
    requirement: "HO4",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      const { status } = await openAt(bench, tokenOf(journey.arrival));
      if (status < 400 || status > 499) return failed(`the second browser was answered ${status}`);
      const { error } = await comeBack(bench, journey, await decide(bench, journey, "approve"));
      if (error !== undefined) {
        return failed(`rejected with ${status}, but the first visit ended with ${error}`);
      }
      return passed(`the second browser was answered ${status}, and the first visit went on`);
    },
  },
  {
    id: "BANK-H26",
    title: "A handover JWT whose visit has ended is rejected",
    requirement: "HO4",
    run: async (bench) => {
      const journey = await beginVisit(bench);
      await comeBack(bench, journey, await decide(bench, journey, "refuse"));
      const { status } = await openAt(bench, tokenOf(journey.arrival));
      return status >= 400 && status <= 499 ? passed(`answered ${status}`) : failed(`answered ${status}`);
    },
  },
  {
    id: "BANK-H27",
    title: `A handover JWT that arrives ${PARALLEL} times at once opens one visit`,
    requirement: "HO4",
    run: async (bench) => {
      const journey = await beginJourney(bench);
      const token = tokenOf(journey.arrival);
      const answers = await Promise.all(Array.from({ length: PARALLEL }, () => openAt(bench, token)));
      const opened = answers.filter(({ status }) => status < 400).length;
      const seen = `${opened} of ${PARALLEL} opened a visit`;
      return opened === 1 ? passed(seen) : failed(seen);
    },
  },
];

function tokenOf(arrival: URL): string {
  return arrival.searchParams.get("oAuthUrl") ?? "";
}

/** The TPP disputes a payment: the bank learns of it by its event, answers, and gets the evidence (contract DSP, EV17). */
import { readDispute, takeDisputeStep } from "../../../../src/client/tpp/disputes.ts";
import { canonicalOf, newFindings } from "../../../operators/case/verify_parts.ts";
import { verifyBundle } from "../../../operators/case/verify_bundle.ts";
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import { payThrough } from "./orders.ts";

export const DISPUTE_CASES: readonly BankCase[] = [
  {
    id: "BANK-D01",
    title: "A dispute of the TPP is answered when its event has come, with a statement",
    requirement: "DSP2, DSP3, DSP6, EVT19",
    run: ifItAnswers(async (bench, { paymentId }) => {
      const dispute = await readDispute(await bench.flow(), await bench.token(), paymentId);
      const by = dispute.Statement.map(({ By }) => By).join(", ");
      const seen = `the dispute is ${dispute.Status}, with statements of ${by}`;
      return dispute.Status === "Answered" && by === "TPP, Bank" ? passed(seen) : failed(seen);
    }),
  },
  {
    id: "BANK-D02",
    title: "The bundle that the bank gets of its case verifies offline and has both statements",
    requirement: "EV17, EV18, DSP3",
    run: ifItAnswers(async (_bench, { paymentId, bundle }) => {
      const bytes = new TextEncoder().encode(`${canonicalOf(bundle)}\n`);
      const findings = newFindings();
      for await (const fault of verifyBundle(bytes, findings)) return failed(fault);
      const events = (findings.bundle?.entries ?? []).flatMap(({ record: { subject, event } }) =>
        subject === paymentId ? [event] : []
      );
      const isWhole = ["dispute.opened", "dispute.answered"].every((event) => events.includes(event));
      return isWhole
        ? passed(`${findings.signatures} signatures hold`)
        : failed(`it has of the payment: ${events.join(", ") || "nothing"}`);
    }),
  },
];

interface Answered {
  readonly paymentId: string;
  /** As the bank got it. */
  readonly bundle: unknown;
}

/** Nothing is asked of a bank whose people dispute at the platform, so that its hook knows no disputes. */
function ifItAnswers(judge: (bench: BankBench, answered: Answered) => Promise<Outcome>): BankCase["run"] {
  return async (bench) => {
    const { payment: { paymentId } } = await payThrough(bench, ({ jws, deliver }) => deliver(jws));
    const opening = { paymentId, action: "Open", statement: "The payee says that it never came." } as const;
    await takeDisputeStep(await bench.flow(), await bench.token(), opening);
    const bundle = await bench.hook.answerDispute(paymentId);
    return bundle === undefined
      ? passed("not asked: the bank's hook knows no disputes")
      : await judge(bench, { paymentId, bundle });
  };
}

/** `--dispute`: the TPP disputes the payment that it has made, the bank answers, and both get the evidence. */
import * as bankHalf from "../../../src/client/bank.ts";
import { grantClientToken } from "../../../src/client/tpp/authorization.ts";
import { readCase, readDispute, takeDisputeStep } from "../../../src/client/tpp/disputes.ts";
import { openFlow } from "../../../src/client/tpp/payment_journey.ts";
import { persistently } from "../../../src/client/tpp/persistent.ts";
import type { Tpp } from "../../../src/client/tpp/tpp.ts";
import type { OpenSandbox } from "../../command_line/sandbox.ts";
import type { DemoStep } from "./payment.ts";

const FOLDERS: Readonly<Record<string, string>> = { BANKA: "bank-a", BANKB: "bank-b" };
/** Of the demo's steps, after the nine of a payment. */
const STEP = 10;

/** Disputes a payment. @throws {Error} when a step fails */
export async function disputePayment(
  tpp: Tpp,
  { bank: code, paymentId }: { readonly bank: string; readonly paymentId: string },
  { dir, endpoints, now }: Pick<OpenSandbox, "dir" | "endpoints" | "now">,
  report: (step: DemoStep) => void,
): Promise<void> {
  const tell = (text: string): void => report({ step: STEP, text });
  const flow = await openFlow(tpp, code);
  const token = await grantClientToken(flow);
  const opened = await takeDisputeStep(flow, token, {
    paymentId,
    action: "Open",
    statement: "The payee says that the payment never came.",
  });
  tell(`dispute of the payment: ${opened.Status}, an answer is due on ${opened.DueDateTime}`);
  const bank = await bankHalf.openBank({ dir, name: FOLDERS[code] ?? "", endpoints, now });
  try {
    await bankHalf.takeDisputeStep(bank, {
      paymentId,
      action: "Answer",
      isAgreed: false,
      statement: "It was credited on the same day.",
    });
  } finally {
    bank.close();
  }
  const { Status, Statement } = await readDispute(flow, token, paymentId);
  const said = Statement.map((one) => `${one.By}: ${one.Statement}`).join(" ");
  tell(`dispute of the payment: ${Status}, for an operator to decide. ${said}`);
  const bundle = await persistently(() => readCase(flow, token, paymentId), { attempts: 10 });
  tell(`evidence: a bundle of ${JSON.stringify(bundle).length} characters, with both statements`);
}

/** The end of an examination's payment: the customer's return, and the payment until the bank has answered. */
import { AuthorizationResponseError } from "oauth4webapi";
import { checkCallback, exchangeCode } from "../../../src/client/tpp/authorization.ts";
import { createPayment, readPayment } from "../../../src/client/tpp/domestic_payments.ts";
import { type Examination, known, Wrong } from "./examination.ts";

/** Says more about a fault. */
export type Explain = (words: string, query: string) => Promise<string>;

const plain: Explain = (words) => Promise.resolve(words);

/** Notes the customer's return. @throws {Wrong} if it brings no code */
export async function returnedWithCode(at: Examination, callback: URL, explain = plain): Promise<void> {
  at.returned = callback;
  try {
    checkCallback(known(at.flow), known(at.pending), callback);
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) throw error;
    const words = `The customer came back with ${error.error}: ${error.error_description}`;
    throw new Wrong(await explain(words, `consent_id=${at.consentId}`));
  }
}

const SETTLE_MS = 6000;
const LOOKS_MS = 500;

/** What the bank does with the order. */
export interface BankWork {
  /** Statuses before the bank's last word. */
  readonly open: readonly string[];
  /** Runs before each look at the payment. */
  readonly work?: () => Promise<void>;
}

/** Redeems the code, makes the payment and reads it until it is not open. */
export async function payAndWait(
  at: Examination,
  { open, work }: BankWork,
  explain = plain,
): Promise<string> {
  const [flow, pending] = [known(at.flow), known(at.pending)];
  const token = await exchangeCode(flow, pending, checkCallback(flow, pending, known(at.returned)));
  const order = { consentId: known(at.consentId), ...known(at.request) };
  let payment = await createPayment(flow, token, order);
  for (const end = Date.now() + SETTLE_MS; open.includes(payment.status) && Date.now() < end;) {
    await work?.();
    payment = await readPayment(flow, token, payment.paymentId);
    if (open.includes(payment.status)) await new Promise((done) => setTimeout(done, LOOKS_MS));
  }
  const { paymentId, status } = payment;
  if (status.startsWith("Accepted") && !open.includes(status)) return `payment ${paymentId} is ${status}`;
  const words = `Payment ${paymentId} is ${status}: the bank has not taken the order.`;
  throw new Wrong(await explain(words, `payment_id=${paymentId}`));
}

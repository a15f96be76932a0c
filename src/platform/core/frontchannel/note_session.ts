/** Notes for the trace of a browser's request whose step of which consent it is, and who may read it. */
import { currentFacts, currentTrace } from "../../../base/http/context.ts";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import type { BankClient } from "../registration/client.ts";

/** A session, or the pushed request from which one is opened. */
interface Step {
  readonly consentId: ConsentId;
  readonly clientId: ClientId;
  readonly correlationId?: string;
}

/** Notes a step that the TPP's link has begun. The TPP may read what was wrong with it. */
export function noteStep(step: Step): void {
  noteIds(step);
  currentTrace()?.readers.push({ clientId: step.clientId, isSender: true });
}

/** Notes the pushed request of a link, unless the link names another client or bank. */
export function notePushed(
  request: Step & { readonly bank: BankCode },
  link: { readonly clientId: string; readonly bank: BankCode },
): void {
  if (request.clientId === link.clientId && request.bank === link.bank) noteStep(request);
}

/** Notes a return from a bank, which may read what was wrong with its result. */
export function noteBankReturn({ clientId }: BankClient): void {
  currentTrace()?.readers.push({ clientId, isSender: true });
}

/** Notes the session of a return. The TPP may read that its customer has returned. */
export function noteReturnedSession(step: Step): void {
  noteIds(step);
  currentTrace()?.readers.push({ clientId: step.clientId, isSender: false });
}

/** Notes why the bank's result had no effect, although the customer is led on. */
export function noteUnusable(fault: Mismatch): void {
  const notes = currentTrace();
  if (notes !== undefined) notes.rejection = { reason: "bank_return.unusable", fault };
}

/** Notes the consent and the session of the request. */
export function noteIds({ consentId, correlationId }: Step): void {
  const [facts, notes] = [currentFacts(), currentTrace()];
  if (facts !== undefined) facts.consentId = consentId;
  if (notes !== undefined && correlationId !== undefined) notes.sessionId = correlationId;
}

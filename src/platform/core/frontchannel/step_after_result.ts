/** Chooses the step that follows from the bank's result, on whichever channel it came (contract ARS4). No I/O. */
import type { Parties } from "../../../base/values/parties.ts";
import type { BankClient, Client } from "../registration/client.ts";
import type { ChosenStep, Situation } from "./advance_session.ts";
import { expiredStep, isLate, stepAfterBank } from "./authorization_session.ts";
import type { BankResult } from "./result_jwt.ts";

/**
 * The first result counts: while the customer decides, every later one leads to the screen. `stay` also means that
 * the bank's result was delivered on the back channel meanwhile, unless `result` is that one.
 */
export function stepAfterResult(
  result: BankResult,
  bank: BankClient,
  { session, consent, tpp, now }: Situation,
): ChosenStep | "stay" {
  const late = isLate(session, now);
  if (session.stage === "deciding") {
    return late ? expiredStep("returned again after the session expired") : "stay";
  }
  if (session.stage === "delivered" && session.result !== result) return "stay";
  // A late success has no effect. A late failure counts as one in time (Decision G1).
  if (late && result.outcome === "success") {
    return expiredStep("bank: success, after the session expired");
  }
  // The accounts are those that the bank had reported by then (Decision G2).
  const known = session.payer === undefined ? consent : { ...consent, payer: session.payer };
  const step = stepAfterBank(result, known, bank.consentManagedByBank);
  return step.kind === "ask" ? { ...step, parties: partiesOf(bank, tpp) } : step;
}

/** The registered names now. A later registration does not change a page that is being read. */
function partiesOf(bank: BankClient, tpp: Client): Parties {
  const { clientId, orgName: legalName, role, registeredAt: registeredSince, registrationNumber, clientUri } =
    tpp;
  const number = registrationNumber === undefined ? {} : { registrationNumber };
  const page = clientUri === undefined ? {} : { clientUri };
  return {
    tpp: { legalName, clientId, role, registeredSince, ...number, ...page },
    bank: { code: bank.code, name: bank.orgName },
  };
}

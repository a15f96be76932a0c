/** A payment with personal data of every kind, and its erasure. */
import type { Environment } from "testing/environment.ts";
import { consentBody, DEBTOR_ACCOUNT } from "testing/flows.ts";
import { changeAs, type TestOperator } from "testing/operators.ts";

export const REASON = "request 17 of the data subject";
/** Texts that identify the payer: in the consent, in the evidence, and in the bank's report. */
export const PERSONAL = {
  account: DEBTOR_ACCOUNT.Identification,
  name: "Philippa Featherstonehaugh",
  address: "17 Marchmont Crescent",
  phone: "+44-7700900123",
} as const;
export const BODY = consentBody({
  initiation: {
    DebtorAccount: { ...DEBTOR_ACCOUNT, Name: PERSONAL.name },
    RemittanceInformation: { Unstructured: `call ${PERSONAL.phone}` },
  },
  risk: { DeliveryAddress: { AddressLine: [PERSONAL.address], TownName: "Edinburgh", Country: "GB" } },
});

/** An operator requests the erasure of a case. */
export function erase(env: Environment, id: string, as: TestOperator = "security"): Promise<Response> {
  return changeAs(env, `/cases/${id}/erasure`, { Reason: REASON }, as);
}

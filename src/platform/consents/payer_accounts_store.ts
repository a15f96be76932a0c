/**
 * The payer's accounts for the platform's screen. They are stored once, as the evidence of the bank's report: its
 * signed bytes in pieces, so that no number of accounts can make a value larger than the store's limit.
 */
import { valueAt } from "../http/decode.ts";
import { fromWire } from "../http/wire_names.ts";
import { parseStrictJson } from "../../base/http/strict_json.ts";
import type { ConsentId } from "../../base/kernel/identifiers.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { bodyAt } from "../evidence/evidence_store.ts";
import { type SignedBody, signedEvidence } from "../security/payload_signature.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Payer, PayerAccount } from "./consent.ts";

/** Returns a bank's report on a consent as evidence. It never changes. A later report has the next number. */
export function payerAccountsEvidence(
  consent: ConsentId,
  report: number,
  signedBody: SignedBody,
): Evidence {
  return { ...signedEvidence("payer_accounts", signedBody), place: placeOf(consent, report) };
}

/**
 * Returns the accounts of the payer. They were validated when they were reported.
 *
 * @throws {Error} if the report is not in the store
 */
export async function payerAccountsOf(
  reader: Reader,
  consent: ConsentId,
  { accounts, report }: Payer,
): Promise<readonly PayerAccount[]> {
  if (accounts !== undefined) return accounts;
  const evidence = report === undefined ? null : await bodyAt(reader, placeOf(consent, report));
  if (evidence === null) throw new Error(`report ${report} of payer accounts is not in the store`);
  return valueAt(fromWire(parseStrictJson(evidence.bytes)), [
    "data",
    "debtorAccount",
  ]) as readonly PayerAccount[];
}

function placeOf(consent: ConsentId, report: number): string {
  return `${consent} payer accounts ${report}`;
}

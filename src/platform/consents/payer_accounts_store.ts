/**
 * The payer's accounts for the platform's screen. They are stored once, as the evidence of the bank's report: its
 * signed bytes in pieces, so that no number of accounts can make a value larger than the store's limit.
 */
import { valueAt } from "../http/decode.ts";
import { fromWire } from "../http/wire_names.ts";
import { parseStrictJson } from "../../base/http/strict_json.ts";
import type { ConsentId } from "../../base/kernel/identifiers.ts";
import { evidenceOf, stageEvidence } from "../security/evidence_store.ts";
import type { SignedBody } from "../security/payload_signature.ts";
import type { Reader } from "../../base/store/store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import type { Payer, PayerAccount } from "./consent.ts";

/** Stages a bank's report on a consent. It never changes. A later report has the next number. */
export function stagePayerAccounts(
  tx: Transaction,
  consent: ConsentId,
  report: number,
  signedBody: SignedBody,
): void {
  stageEvidence(tx, subjectOf(consent, report), signedBody);
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
  const evidence = report === undefined ? null : await evidenceOf(reader, subjectOf(consent, report));
  if (evidence === null) throw new Error(`report ${report} of payer accounts is not in the store`);
  return valueAt(fromWire(parseStrictJson(evidence.bytes)), [
    "data",
    "debtorAccount",
  ]) as readonly PayerAccount[];
}

function subjectOf(consent: ConsentId, report: number): string {
  return `${consent} payer accounts ${report}`;
}

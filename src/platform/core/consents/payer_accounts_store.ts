/**
 * The payer's accounts for the platform's screen. They are stored once, as the evidence of the bank's report: its
 * signed bytes in pieces, so that no number of accounts can make a value larger than the store's limit.
 */
import { valueAt } from "../../guards/http/decode.ts";
import { fromWire } from "../../guards/http/wire_fields.ts";
import { parseStrictJson } from "../../../base/http/body.ts";
import type { ConsentId } from "../../../base/kernel/identifiers.ts";
import { evidencePlace } from "../../evidence/evidence.ts";
import { bodyAt } from "../../evidence/evidence_store.ts";
import { lostData } from "../../guards/security/standing.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { Payer, PayerAccount } from "./consent.ts";

/**
 * Returns the accounts of the payer, or null if they have been deleted by the decision. They were validated when they
 * were reported.
 *
 * @throws {ApiError} `platform.unavailable` if their data key is lost
 */
export async function payerAccountsOf(
  reader: Reader,
  consent: ConsentId,
  { reports }: Payer,
): Promise<readonly PayerAccount[] | null> {
  const evidence = await bodyAt(reader, evidencePlace(consent, Math.max(...reports), "payer_accounts"));
  if (evidence === null) return null;
  if (evidence === "lost") throw lostData();
  return valueAt(fromWire(parseStrictJson(evidence.bytes)), [
    "data",
    "debtorAccount",
  ]) as readonly PayerAccount[];
}

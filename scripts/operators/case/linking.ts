/**
 * Dynamic linking: the digest that the platform gave the bank, and that the bank signed, is that of what the TPP
 * requested (`docs/contract/evidence.md`, verification, step 12). No I/O.
 */
import type { Piece, Statement } from "./bundle_schema.ts";
import { at } from "./agreement.ts";
import { base64url, digestOf } from "./signatures.ts";
import { entryName } from "./verify_parts.ts";

/** Yields each digest that is of another transaction, and a claim of the statement that the pieces do not support. */
export function* verifyLinking(pieces: readonly Piece[], { linked }: Statement): Generator<string> {
  const request = pieces.find(({ kind }) => kind === "consent_request");
  const expected = request === undefined ? undefined : transactionDigestIn(request.content);
  for (const { entry, kind, content } of pieces) {
    const digest = at(content, "transaction_digest");
    const isMissing = kind === "sca_result" && digest === undefined;
    if ((kind !== "handover" && kind !== "sca_result") || isMissing || expected === undefined) continue;
    if (digest !== expected) yield `the ${kind} of ${entryName(entry)} is linked to another transaction`;
  }
  const found = expected !== undefined && isClaimed(pieces) ? "proven" : "not claimed";
  if (linked !== found) yield `the statement says linked: ${linked}, and the evidence says ${found}`;
}

/** Whether the bank's result of the session that authorised the consent has a digest. */
function isClaimed(pieces: readonly Piece[]): boolean {
  const last = pieces.findLastIndex(({ entry }) => entry.record.event === "consent.Authorized");
  const decision = pieces.find(({ kind, entry }) =>
    kind === "decision" && entry.record.event === "consent.Authorized"
  );
  const session = at(decision?.content, "session");
  const result = pieces.slice(0, last + 1).findLast(({ kind, content }) =>
    kind === "sca_result" && (decision === undefined || at(content, "correlation_id") === session)
  );
  return at(result?.content, "transaction_digest") !== undefined;
}

/** Returns the digest of the transaction that a consent request asks for (contract LNK1). */
function transactionDigestIn(content: unknown): string {
  const terms = at(content, "Data", "Initiation");
  const account = (name: string, ...members: readonly string[]): readonly unknown[] =>
    members.map((member) => at(terms, name, member) ?? null);
  const numbers = ["SchemeName", "Identification", "SecondaryIdentification"];
  return base64url(digestOf(JSON.stringify([
    at(terms, "InstructedAmount", "Amount"),
    at(terms, "InstructedAmount", "Currency"),
    ...account("CreditorAccount", "Name", ...numbers),
    ...account("DebtorAccount", ...numbers),
  ])));
}

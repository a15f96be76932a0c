/**
 * The steps of a dispute: each is what its party has signed, and none comes after the end
 * (`docs/contract/evidence.md`, verification, step 12). No I/O.
 */
import { at } from "./agreement.ts";
import type { BundleEntry, Piece } from "./bundle_schema.ts";
import { entryName } from "./verify_parts.ts";

const ACTIONS: Readonly<Record<string, string>> = {
  "dispute.opened": "Open",
  "dispute.answered": "Answer",
  "dispute.withdrawn": "Withdraw",
};

/** Yields each step that is not the one that its party has signed, or that the dispute does not have any more. */
export function* verifyDispute(
  pieces: readonly Piece[],
  entries: readonly BundleEntry[],
): Generator<string> {
  let [opener, isEnded]: [string | undefined, boolean] = [undefined, false];
  for (const entry of entries) {
    const { event, items = [] } = entry.record;
    if (!event.startsWith("dispute.")) continue;
    if (isEnded) yield `${entryName(entry)} comes after the end of the dispute`;
    const [kind] = items.map((item) => item.kind);
    if (event === "dispute.opened") opener = kind;
    const isOther = event === "dispute.answered" ? kind === opener : kind !== opener;
    if (kind !== undefined && isOther) yield `${entryName(entry)} is a step of the other party`;
    const content = pieces.find((piece) => piece.entry === entry)?.content;
    const action = at(content, "Data", "Action");
    if (content !== undefined && action !== ACTIONS[event]) {
      yield `the ${kind} of ${entryName(entry)} says ${action}, and the entry says ${event}`;
    }
    isEnded ||= event === "dispute.withdrawn" || event === "dispute.decided" ||
      at(content, "Data", "IsAgreed") === true;
  }
}

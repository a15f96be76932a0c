/** EV13: the proof that retention has deleted a case, by the steps 3, 5, 6, 9 and 13. */
import { type Case, piecesOf, readCase } from "./case.ts";
import type { Revoked } from "./certificate.ts";
import { listOf, membersOf, sha256Text } from "./encoding.ts";
import { type Deletion, hash, integer, list, object, text } from "./form.ts";
import { logFaults } from "./history.ts";
import { certificateFaults, partyFaults, type Trust } from "./parties.ts";
import { digestFaults } from "./pieces.ts";

const isRetention = object({
  class: text,
  rule: text,
  until: integer,
  count: integer,
  cases: list(hash),
});

export interface Read {
  readonly statement: Readonly<Record<string, unknown>>;
  readonly checkpoint: { readonly size: number; readonly root: string };
  readonly trust: Trust;
  readonly revoked: Revoked;
}

/** Yields what does not hold of a proof whose form, statement and checkpoint are good. */
export async function* deletionFaults(
  { entry, ...signed }: Deletion,
  { statement, checkpoint, trust, revoked }: Read,
): AsyncGenerator<readonly [number, string]> {
  const facts = readCase({ ...signed, entries: [entry], documents: [] }, statement);
  const steps = [
    [5, logFaults(facts, checkpoint)],
    [6, digestFaults(facts)],
    [9, certificateFaults(facts, revoked)],
    [13, partyFaults(facts, trust)],
    [13, namedFaults(facts)],
  ] as const;
  for (const [step, faults] of steps) for await (const fault of faults) yield [step, fault];
}

function* namedFaults(facts: Case): Generator<string> {
  const [entry] = facts.entries;
  if (entry?.subject !== "retention audit" || entry.event !== "retention.applied") {
    yield "the entry is none of a deletion";
  }
  const [piece] = piecesOf(facts, "retention");
  const said = membersOf(piece?.content);
  if (!isRetention(said) || said["class"] !== "audit") return yield "the evidence is none of a deletion";
  if (!listOf(said["cases"]).includes(sha256Text(String(facts.statement["case"])))) {
    yield "the evidence does not name the case";
  }
}

/**
 * A second verifier of evidence bundles. It was written from docs/contract/evidence.md alone and shares no code with the
 * platform or its programs, so that a fault in one of the two is a difference between them.
 */
import { agreementFaults } from "./agreement.ts";
import { authenticationFaults } from "./authentication.ts";
import { readCase } from "./case.ts";
import type { Revoked } from "./certificate.ts";
import { deletionFaults } from "./deletion.ts";
import { readFile } from "./form.ts";
import { logFaults, orderFaults, pageFaults } from "./history.ts";
import { certificateFaults, partyFaults, type Trust } from "./parties.ts";
import { digestFaults, signatureFaults } from "./pieces.ts";
import { requiredFaults } from "./required.ts";
import { readCheckpoint, readStatement } from "./statement.ts";

/** A fault, with the number of the step of the specification. */
export type Fault = readonly [number, string];

/** Verifies a bundle or the proof of a deletion. Yields what does not hold; one without a fault holds. */
export async function* faultsOf(
  bytes: Uint8Array,
  trust: Trust = {},
  revoked: Revoked = new Map(),
): AsyncGenerator<Fault> {
  const bundle = readFile(bytes);
  if (typeof bundle === "string") return yield [1, bundle];
  const statement = await readStatement(bundle);
  if (typeof statement === "string") return yield [2, statement];
  const checkpoint = await readCheckpoint(bundle, statement);
  if (typeof checkpoint === "string") return yield [3, checkpoint];
  if ("entry" in bundle) return yield* deletionFaults(bundle, { statement, checkpoint, trust, revoked });
  const facts = readCase(bundle, statement);
  const steps = [
    [4, orderFaults(facts)],
    [5, logFaults(facts, checkpoint)],
    [6, digestFaults(facts)],
    [7, signatureFaults(facts)],
    [8, pageFaults(facts)],
    [10, requiredFaults(facts)],
    [11, authenticationFaults(facts)],
    [12, agreementFaults(facts)],
    [9, certificateFaults(facts, revoked)],
    [13, partyFaults(facts, trust)],
  ] as const;
  for (const [step, faults] of steps) for await (const fault of faults) yield [step, fault];
}

/** A restore: the database is replaced by an older copy, and everybody goes on from there. */
import { storeCopyKey } from "../../../src/base/store/copy_mark.ts";
import type { Entry } from "../../../src/base/store/store.ts";
import type { PaymentOrders } from "../../testing/answers.ts";
import type { SimulatedBank } from "./bank.ts";
import type { Line } from "./calls.ts";
import type { Snapshot } from "./database.ts";
import type { Fact } from "./evidence.ts";
import { endHolds } from "./operator.ts";
import { callResource } from "./tokens.ts";
import { payAgain } from "./tpp.ts";

/** A copy and when it was taken (ms). */
export interface Copy {
  readonly snapshot: Snapshot;
  readonly takenAt: number;
}

/** Puts the copy in the database's place; the operator ends the holds while the TPPs try to pay again. */
export async function restore(
  line: Line,
  { snapshot, takenAt }: Copy,
  facts: readonly Fact[],
  reconciles: boolean,
): Promise<void> {
  const { simulation, cluster } = line;
  simulation.note("the database is replaced by an older copy");
  cluster.restartAll(() => {
    simulation.wasRestored = true;
    simulation.watch.restored();
    simulation.tokens.clear(); // void, as their owners are told by the first 401
    simulation.database.restore(snapshot);
    const rows = (name: string): readonly Entry<unknown>[] =>
      simulation.database.list({ prefix: [name], limit: 100_000 });
    simulation.events.restored(rows("event"), rows("event_finished"));
    const value = { id: "copy", takenAt };
    simulation.database.commit({ checks: [], writes: [{ kind: "set", key: storeCopyKey, value }] });
  });
  await Promise.all([endHolds(line, reconciles), ...facts.map(([plan, fact]) => payAgain(line, plan, fact))]);
}

/** After a comparison with the banks the platform knows every order that a bank has. */
export async function compareAfterRestore(
  line: Line,
  banks: Readonly<Record<string, SimulatedBank>>,
): Promise<void> {
  for (const [code, { party, ledger }] of Object.entries(banks)) {
    const path = `/${code}/back-channel-payments/v1`;
    const answer = await callResource(line, { who: party, method: "GET", path });
    const { Data } = JSON.parse(answer.text) as PaymentOrders;
    const known = new Set(Data.PaymentOrder.map(({ DomesticPaymentId }) => DomesticPaymentId));
    for (const { DomesticPaymentId: id } of ledger()) {
      if (!known.has(id)) line.simulation.violated("a restore loses no order of a bank", `${code} has ${id}`);
    }
  }
}

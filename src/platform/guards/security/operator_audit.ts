/**
 * Records what operators read of cases and histories. The entry is committed before the answer is made, in the history
 * of `operator <name>`, so no read without its entry exists.
 */
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { ControlsStore } from "./controls_store.ts";

/** Records that the operator reads the path. @throws {ApiError} `store.unavailable` */
export type RecordRead = (operator: string, path: string) => Promise<void>;

const MAX_PATH_CHARACTERS = 300;

export function openOperatorAudit(deps: TransactDeps, controls: ControlsStore): RecordRead {
  return async (operator, path) => {
    await transact(deps, { what: "operator's read" }, async (tx) => {
      const reason = path.slice(0, MAX_PATH_CHARACTERS);
      await controls.stageEvent(tx, operator, {
        at: deps.clock(),
        event: "operator.read",
        actor: operator,
        reason,
      });
    });
  };
}

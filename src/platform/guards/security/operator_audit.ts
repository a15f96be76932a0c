/**
 * Records what operators read of cases and histories, and what they attempt: sign-ins, forbidden requests, approvals
 * that are refused. The entry is committed before the answer is made, so nothing of it is without its entry (contract
 * OP11, OP21).
 */
import { limitAttempts, MAX_REASON_CHARACTERS } from "../../../base/http/attempt_limit.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import { stageControlEvent } from "./controls_store.ts";

/** Records that the operator reads the path. @throws {ApiError} `store.unavailable` */
export type RecordRead = (operator: string, path: string) => Promise<void>;

export interface Attempt {
  /** `operator <name>`, whom the platform has authenticated. */
  readonly operator: string;
  /** Whose history has the entry. By default the operator's own. */
  readonly subject?: string;
  readonly event: "operator.signed_in" | "operator.forbidden" | "proposal.refused";
  readonly reason: string;
}

/** Records an attempt. @throws {ApiError} `store.unavailable`; `request.rate_limited` after very many */
export type RecordAttempt = (attempt: Attempt) => Promise<void>;

export interface OperatorAudit {
  readonly recordRead: RecordRead;
  readonly recordAttempt: RecordAttempt;
}

export function openOperatorAudit(deps: TransactDeps): OperatorAudit {
  const limit = limitAttempts(deps.clock);
  const stage = async (subject: string, event: string, operator: string, reason: string): Promise<void> =>
    await transact(deps, { what: "operator's act" }, async (tx) => {
      await stageControlEvent(tx, subject, { at: deps.clock(), event, actor: operator, reason });
    });
  return {
    recordRead: (operator, path) =>
      stage(operator, "operator.read", operator, path.slice(0, MAX_REASON_CHARACTERS)),
    async recordAttempt({ operator, subject = operator, event, reason }) {
      await stage(subject, event, operator, limit(operator, reason));
    },
  };
}

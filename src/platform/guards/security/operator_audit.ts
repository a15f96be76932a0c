/**
 * Records what operators read of cases and histories, and what they attempt: sign-ins, forbidden requests, approvals
 * that are refused. The entry is committed before the answer is made, so nothing of it is without its entry (contract
 * OP11, OP21).
 */
import { openLimiter } from "../../../base/http/limiter.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import type { ControlsStore } from "./controls_store.ts";

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

const MAX_REASON_CHARACTERS = 300;
/** Attempts of one operator: what a person does by hand, so that a program does not fill the history. */
const ATTEMPTS = { perSecond: 1 / 10, burst: 300, maxKeys: 10_000 };

export function openOperatorAudit(deps: TransactDeps, controls: ControlsStore): OperatorAudit {
  const limiter = openLimiter(ATTEMPTS, deps.clock);
  const stage = async (subject: string, event: string, operator: string, reason: string): Promise<void> =>
    await transact(deps, { what: "operator's act" }, async (tx) => {
      const [at, actor, bounded] = [deps.clock(), operator, reason.slice(0, MAX_REASON_CHARACTERS)];
      await controls.stageEvent(tx, subject, { at, event, actor, reason: bounded });
    });
  return {
    recordRead: (operator, path) => stage(operator, "operator.read", operator, path),
    async recordAttempt({ operator, subject = operator, event, reason }) {
      const retryAfterSeconds = limiter.take(operator);
      if (retryAfterSeconds > 0) throw new ApiError("request.rate_limited", { retryAfterSeconds });
      await stage(subject, event, operator, reason);
    },
  };
}

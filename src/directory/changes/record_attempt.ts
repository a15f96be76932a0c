/**
 * Records what known people attempt: sign-ins, forbidden pages and approvals that are refused. The entry is committed
 * before the answer is made (contract DRC14).
 */
import { limitAttempts } from "../../base/http/attempt_limit.ts";
import { transact } from "../../base/store/transaction.ts";
import { stageAttempt } from "../participants/history_store.ts";
import type { Directory } from "./directory.ts";

export interface Attempt {
  /** The person, whom the directory has authenticated. */
  readonly who: string;
  readonly what: "person.signed_in" | "person.forbidden" | "proposal.refused";
  readonly reason: string;
  readonly proposalId?: string;
}

/** Records an attempt. @throws {ApiError} `request.rate_limited` after very many; {StoreFailure} */
export type RecordAttempt = (attempt: Attempt) => Promise<void>;

/** Each of so many people who attempt something at the same time has an entry. */
const ATTEMPTS = 50;

export function openAttempts(directory: Directory): RecordAttempt {
  const limit = limitAttempts(directory.clock);
  return async ({ who, reason, ...attempt }) => {
    const notes = [{ ...attempt, reason: limit(who, reason), details: {} }];
    const options = { what: "attempt", attempts: ATTEMPTS };
    const head = await transact(directory, options, async (tx) => {
      return await stageAttempt(tx, { notes, at: directory.clock(), who });
    });
    directory.witness("people", head);
  };
}

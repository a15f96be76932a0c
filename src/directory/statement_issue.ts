/**
 * When a statement is issued. Relying parties reject one that is not newer than the last (Decision B6), so `iat`
 * strictly increases per software, even within one second; it never runs far ahead of the clock.
 */
import { unixSeconds } from "../base/kernel/clock.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { FUTURE_SKEW_SECONDS } from "../base/limits.ts";
import type { Participant } from "./participant.ts";

/** Half of what relying parties tolerate: the rest is for their clocks. */
const MAX_AHEAD_SECONDS = FUTURE_SKEW_SECONDS / 2;

/**
 * The participant with the `iat` of its next statement.
 *
 * @throws {ApiError} `request.rate_limited` after so many statements at once that the next would lie in the future
 */
export function withNextStatement(participant: Participant, now: number): Participant {
  const earliest = unixSeconds(now);
  const statementIat = Math.max(earliest, participant.software.statementIat + 1);
  if (statementIat > earliest + MAX_AHEAD_SECONDS) {
    throw new ApiError("request.rate_limited", {
      retryAfterSeconds: statementIat - earliest - MAX_AHEAD_SECONDS,
    });
  }
  return { ...participant, software: { ...participant.software, statementIat } };
}

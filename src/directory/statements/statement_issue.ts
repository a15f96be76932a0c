/**
 * Computes the `iat` of a statement. Relying parties reject a statement that is not newer than the last (Decision B6),
 * so `iat` strictly increases per software, even within one second. It never runs far ahead of the clock.
 */
import { unixSeconds } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { FUTURE_SKEW_SECONDS } from "../../base/limits.ts";
import type { Participant } from "../participants/participant.ts";

/** Half of relying parties' tolerance; the other half is for their clock skew. */
const MAX_AHEAD_SECONDS = FUTURE_SKEW_SECONDS / 2;

/**
 * The participant with the `iat` of its next statement.
 *
 * @throws {ApiError} `request.rate_limited` after so many statements within a short time that the next would lie in the
 * future
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

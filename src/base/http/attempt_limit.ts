/** Bounds the entries that attempts of known people make in a history: sign-ins, forbidden requests, refused approvals. */
import { ApiError } from "../kernel/api_error.ts";
import type { Clock } from "../kernel/clock.ts";
import { openLimiter } from "../kernel/recently_used.ts";

/** Of an entry in a history. */
export const MAX_REASON_CHARACTERS = 300;
/** Attempts of one person: what a person does by hand, so that a program does not fill the history. */
const ATTEMPTS = { perSecond: 1 / 10, burst: 300, maxKeys: 10_000 };

/** Counts an attempt of the person, and returns its reason, cut if it is too long. @throws {ApiError} `request.rate_limited` */
export type LimitAttempt = (person: string, reason: string) => string;

export function limitAttempts(clock: Clock): LimitAttempt {
  const limiter = openLimiter(ATTEMPTS, clock);
  return (person, reason) => {
    const retryAfterSeconds = limiter.take(person);
    if (retryAfterSeconds > 0) throw new ApiError("request.rate_limited", { retryAfterSeconds });
    return reason.slice(0, MAX_REASON_CHARACTERS);
  };
}

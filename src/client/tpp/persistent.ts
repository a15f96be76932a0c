/** Repeats calls whose outcome is unknown, or that the platform asks to send again later. */
import * as oauth from "oauth4webapi";
import { ApiErrorResponse, retryAfterOf } from "../party/api_error.ts";

/** Bounds of the repetition. */
export interface Persistence {
  /** Calls in all; default 4. */
  readonly attempts?: number;
  /** The longest pause between two calls, milliseconds; default 30,000. */
  readonly longestPause?: number;
  /** Waits so many milliseconds; default: by a timer. */
  readonly wait?: (milliseconds: number) => Promise<void>;
}

const FIRST_PAUSE_MS = 500;

/**
 * Calls until an answer is final. A call without an answer, 429, and 5xx are repeated after the platform's
 * `Retry-After`, else after pauses that double. `call` must be safe to repeat: a read, a token by client credentials, a
 * pushed authorization request, or a POST with the same idempotency key (Decision C4). The exchange of a code is not:
 * its repetition revokes the tokens of the code (RFC 6749 §4.1.2).
 *
 * @throws the error of the last call
 */
export async function persistently<T>(
  call: () => Promise<T>,
  { attempts = 4, longestPause = 30_000, wait = pause }: Persistence = {},
): Promise<T> {
  for (let attempt = 1;; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const before = FIRST_PAUSE_MS * 2 ** (attempt - 1);
      const milliseconds = pauseAfter(error, before);
      if (milliseconds === undefined || milliseconds > longestPause || attempt >= attempts) throw error;
      await wait(milliseconds);
    }
  }
}

/** Returns the pause before the next call, milliseconds, or undefined if the answer is final. */
function pauseAfter(error: unknown, usual: number): number | undefined {
  if (error instanceof TypeError || isTimeout(error)) return usual;
  const rejection = rejectionOf(error);
  if (rejection === undefined || rejection.status < 500 && rejection.status !== 429) return undefined;
  return rejection.retryAfter === undefined ? usual : rejection.retryAfter * 1000;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function rejectionOf(error: unknown): { status: number; retryAfter: number | undefined } | undefined {
  if (error instanceof ApiErrorResponse) return error;
  const response = error instanceof oauth.ResponseBodyError
    ? error.response
    : error instanceof oauth.OperationProcessingError && error.cause instanceof Response
    ? error.cause // such as the HTML of a proxy
    : undefined;
  return response && { status: response.status, retryAfter: retryAfterOf(response.headers) };
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

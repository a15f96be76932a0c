/** Calls to a sandbox that may die at any moment: what is worth trying again, and for how long. */
import * as oauth from "oauth4webapi";
import { ApiErrorResponse } from "../../../src/client/party/api_error.ts";
import type { ProvedSystem } from "./system.ts";

/** The platform rejected the request, so a retry would not help. */
export interface Rejected {
  readonly status: number;
  readonly codes: readonly string[];
}

const GIVE_UP_AFTER_MS = 120_000;
const PAUSE_MS = 100;

/**
 * Tries until it gets an answer; waits while the sandbox is down.
 * @throws what `act` throws where that is the platform's own rejection, or two minutes have passed
 */
export async function persistently<T>(sandbox: ProvedSystem, act: () => Promise<T>): Promise<T> {
  for (const startedAt = Date.now();;) {
    await sandbox.ready();
    try {
      return await act();
    } catch (error) {
      if (rejectionOf(error) !== undefined || Date.now() - startedAt > GIVE_UP_AFTER_MS) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** The rejection in an error, or undefined where the call may go better another time. */
export function rejectionOf(error: unknown): Rejected | undefined {
  if (error instanceof ApiErrorResponse) return lasting(error.status, error.codes);
  if (error instanceof oauth.ResponseBodyError) return lasting(error.status, [error.error]);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return lasting(error.status, []);
  return undefined;
}

/** Waits so many milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Contract HD10: 429 and 503 say "later". A proxy answers 502 if the platform's process ends before its answer. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503]);

function lasting(status: number, codes: readonly string[]): Rejected | undefined {
  return LATER.has(status) ? undefined : { status, codes };
}

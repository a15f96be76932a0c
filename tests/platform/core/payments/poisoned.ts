/** Orders that always fail. */
import type { PushEnvironment } from "support/orders.ts";
import type { Participant } from "testing/participants.ts";

/** Makes the platform's push time out without a real wait. */
export function timesOut(): Promise<Response> {
  return Promise.reject(new DOMException("The signal timed out", "TimeoutError"));
}

/** The same environment, with this TPP as the one that acts. */
export function as(env: PushEnvironment, tpp: Participant): PushEnvironment {
  return Object.assign(Object.create(env), { tpp });
}

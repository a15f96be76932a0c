/**
 * The controls as this process knows them: a copy that is at most a second old when a request uses it, so that a control
 * is effective on every process within two seconds.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Reader } from "../../../base/store/store.ts";
import { type Controls, inForce, isBlocked, isRevoked, type Outage, outageAt } from "./controls.ts";
import { controlsIn, type ControlsStore } from "./controls_store.ts";
import type { FindAccessToken } from "./access_token.ts";
import type { StandingOf } from "./standing.ts";

export interface CurrentControls {
  /** @throws {ApiError} `store.unavailable` if the copy is too old and the store fails */
  get(): Promise<Controls>;
  /** Makes the next `get` read the store, after a change of this process. */
  forget(): void;
}

const MAX_AGE_MS = 1000;
/** Longest `Retry-After` of an outage. */
const MAX_RETRY_SECONDS = 86_400;

/** @param steady the time for the age of the copy */
export function openCurrentControls(
  store: Reader,
  steady: SteadyClock,
  controls: ControlsStore,
): CurrentControls {
  let copy: { readonly at: number; readonly controls: Promise<Controls> } | undefined;
  return {
    get() {
      const now = steady();
      if (copy !== undefined && now - copy.at < MAX_AGE_MS) return copy.controls;
      const read = { at: now, controls: controls.read(store).then(controlsIn) };
      read.controls.catch(() => void (copy === read && (copy = undefined)));
      copy = read;
      return read.controls;
    },
    forget: () => void (copy = undefined),
  };
}

/** The standing of participants with the operator's blocks before the directory's word (Decision G5). */
export function withBlocks(current: CurrentControls, standingOf: StandingOf): StandingOf {
  return async (participant) =>
    isBlocked(await current.get(), participant) ? "blocked" : await standingOf(participant);
}

/** Finds no access token that an operator has revoked. */
export function withoutRevoked(current: CurrentControls, find: FindAccessToken): FindAccessToken {
  return async (from, hash) => {
    const token = await find(from, hash);
    return token !== null && isRevoked(await current.get(), token) ? null : token;
  };
}

/** Rejects requests that would start something at a bank with an outage. */
export type RejectInOutage = (bank: BankCode) => Promise<void>;

/** @param clock the time of outages */
export function rejectInOutage(current: CurrentControls, clock: Clock): RejectInOutage {
  return async (bank) => {
    const outage = outageAt(await current.get(), bank, clock());
    if (outage !== undefined) throw inOutage(outage, clock());
  };
}

/** Returns the outages of a bank that have not ended. */
export function outagesOf(
  current: CurrentControls,
  clock: Clock,
): (bank: BankCode) => Promise<readonly Outage[]> {
  return async (bank) => inForce(await current.get(), clock()).outages.filter((one) => one.bank === bank);
}

function inOutage({ until, text }: Outage, now: number): ApiError {
  const message = `The bank has a planned outage: ${text}`;
  return new ApiError("platform.unavailable", {
    detail: "planned outage of the bank",
    description: message,
    faults: [{ code: "UnexpectedError", message }],
    retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil((until - now) / 1000))),
  });
}

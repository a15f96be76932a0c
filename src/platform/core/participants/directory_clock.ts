/**
 * Measures the difference between this computer's clock and the directory's, from the `Date` of responses that are
 * fetched anyway. Signatures of participants are checked against the time, so a wrong clock rejects valid requests
 * and accepts old ones.
 */
import type { Clock, SteadyClock } from "../../../base/kernel/clock.ts";
import type { PartHealth } from "../../../base/observability/health.ts";
import type { Log } from "../../observed/log_events.ts";
import { FUTURE_SKEW_SECONDS } from "../../../base/limits.ts";

export interface DirectoryClock {
  /** The given fetch. It reads the `Date` of every response. */
  readonly fetch: typeof fetch;
  /** For readiness. */
  health(): PartHealth;
  /** Returns the last measured difference. Negative: this computer is behind. Undefined before the first response. */
  aheadSeconds(): number | undefined;
}

/** A reported difference counts as over when it is below half of the reporting threshold. */
const OVER_SECONDS = FUTURE_SKEW_SECONDS / 2;

/** Opens the comparison. `steady` measures how long a response takes. */
export function openDirectoryClock(
  deps: {
    readonly fetch: typeof fetch;
    readonly clock: Clock;
    readonly steady: SteadyClock;
    readonly log: Log;
  },
): DirectoryClock {
  let isOff = false;
  let aheadSeconds: number | undefined;
  const observe = (ahead: number): void => {
    aheadSeconds = ahead;
    const wasOff = isOff;
    isOff = Math.abs(ahead) > (wasOff ? OVER_SECONDS : FUTURE_SKEW_SECONDS);
    if (isOff && !wasOff) deps.log.error("clock.differs", { aheadSeconds: ahead });
    if (wasOff && !isOff) deps.log.info("clock.agrees", { aheadSeconds: ahead });
  };
  return {
    async fetch(input, init) {
      const began = deps.steady();
      const response = await deps.fetch(input, init);
      const ahead = secondsAhead(response.headers, deps.clock(), deps.steady() - began);
      if (ahead !== undefined) observe(ahead);
      return response;
    },
    aheadSeconds: () => aheadSeconds,
    health() {
      if (aheadSeconds === undefined) return { ok: true };
      const words = `${Math.abs(aheadSeconds)} s ${
        Math.sign(aheadSeconds) === -1 ? "behind" : "ahead of"
      } the directory's`;
      return isOff ? { ok: false, detail: `this computer's clock is ${words}` } : { ok: true };
    },
  };
}

/**
 * Returns the difference in whole seconds. Differences within the transfer time and the resolution of `Date` count as
 * 0. Returns undefined without a usable `Date` (RFC 9110 §6.6.1), and for a cached response without a usable `Age`
 * (RFC 9111 §5.1).
 */
function secondsAhead(headers: Headers, now: number, tookMs: number): number | undefined {
  const date = Date.parse(headers.get("date") ?? "");
  const age = headers.get("age") ?? "0";
  if (!Number.isFinite(date) || !/^\d{1,9}$/.test(age)) return undefined;
  const earliest = date + Number(age) * 1000;
  const latest = earliest + 1000 + tookMs; // possible times of the directory's clock
  const [, nearest = now] = [earliest, now, latest].toSorted((one, other) => one - other);
  return Math.round((now - nearest) / 1000);
}

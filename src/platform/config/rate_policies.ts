/**
 * Rate limits of a participant per group of endpoints, from `PLATFORM_RATE_LIMITS`: `payments=50/100` allows 50 requests a
 * second, and 100 at once.
 */

/**
 * Endpoints that share a limit (contract RL1, RL2). `funds` counts per consent, the others per certificate and per
 * participant.
 */
export const RATE_GROUPS = [
  "authorization",
  "registration",
  "consents",
  "payments",
  "reads",
  "lists",
  "back_channel",
  "funds",
] as const;
/** One of {@link RATE_GROUPS}. */
export type RateGroup = typeof RATE_GROUPS[number];

/** A token bucket. It gains `perSecond` tokens a second up to `burst`, and a request takes one. */
export interface RatePolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export type RatePolicies = Readonly<Record<RateGroup, RatePolicy>>;

const DEFAULTS: RatePolicies = {
  authorization: { perSecond: 20, burst: 40 },
  registration: { perSecond: 1, burst: 5 },
  consents: { perSecond: 50, burst: 100 },
  payments: { perSecond: 50, burst: 100 },
  reads: { perSecond: 100, burst: 200 },
  lists: { perSecond: 2, burst: 10 }, // each reads up to 500 cases
  back_channel: { perSecond: 100, burst: 200 },
  funds: { perSecond: 1, burst: 3 },
};
const ENTRY = /^([a-z_]+)=([1-9]\d{0,6})\/([1-9]\d{0,6})$/;

/** Returns the defaults, changed by the entries of `text`, or undefined if `text` is malformed. */
export function readRatePolicies(text: string): RatePolicies | undefined {
  const policies: Record<RateGroup, RatePolicy> = { ...DEFAULTS };
  for (const part of text.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "")) {
    const [, name = "", perSecond, burst] = ENTRY.exec(part) ?? [];
    const group = RATE_GROUPS.find((known) => known === name);
    if (group === undefined) return undefined;
    policies[group] = { perSecond: Number(perSecond), burst: Number(burst) };
  }
  return policies;
}

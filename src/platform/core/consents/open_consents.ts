/**
 * Bounds the consents of a client that await authorisation (contract RL5), so that no TPP fills the database. A bucket,
 * which all processes share, has a token for each further consent. A consent takes one, and gives it back when it is
 * authorised, rejected or expired.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import { openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { SharedBuckets } from "../../guards/security/rate_limits.ts";

export interface OpenConsents {
  /** Counts a consent that is about to be created. @throws {ApiError} `consents.too_many_open`, `store.unavailable` */
  take(clientId: ClientId): Promise<void>;
  /** Counts that a consent awaits authorisation no more, or was not created. */
  giveBack(clientId: ClientId): void;
  /** Gives back what the process has drawn for further consents, because it stops. Never throws. */
  stop(): Promise<void>;
  /** The clients that have lately used half of their consents or more, with the share of 1 that they use. */
  crowded(): readonly { readonly clientId: string; readonly share: number }[];
}

const GROUP = "open_consents";
/** Tokens that a process has lost by a crash come back within this time. Longer than any consent is open. */
const FILL_SECONDS = 7 * 86_400;
const RETRY_AFTER_SECONDS = 60;
/** What a process has seen of a client's bucket counts for this long, milliseconds. */
const SEEN_MS = 600_000;
const MAX_SEEN = 10_000;

/** @param most consents of a client that may await authorisation */
export function openOpenConsents(
  { buckets, steady, most }: {
    readonly buckets: SharedBuckets;
    /** Never goes back. */
    readonly steady: SteadyClock;
    readonly most: number;
  },
): OpenConsents {
  const policy = { burst: most, perSecond: most / FILL_SECONDS };
  const seen = openRecentlyUsed<{ readonly share: number; readonly until: number }>(MAX_SEEN);
  const nameOf = (clientId: ClientId): readonly [string, string] => [GROUP, clientId];
  return {
    async take(clientId) {
      const waitSeconds = await buckets.take(nameOf(clientId), policy, (left) => {
        seen.set(clientId, { share: 1 - left / most, until: steady() + SEEN_MS });
      });
      if (waitSeconds > 0) throw tooMany(most);
    },
    giveBack: (clientId) => buckets.giveBack(nameOf(clientId), policy),
    stop: () => buckets.giveBackAll(GROUP, policy),
    crowded: () =>
      [...seen.entries()].filter(([, { share, until }]) => share >= 0.5 && steady() < until)
        .map(([clientId, { share }]) => ({ clientId, share })),
  };
}

function tooMany(most: number): ApiError {
  return new ApiError("consents.too_many_open", {
    detail: `${most} consents of the client await authorisation`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    quota: { name: GROUP, most },
  });
}

/**
 * Bounds how often others make this process decrypt with a private key. The RSA of Deno's WebCrypto has a timing side
 * channel (RUSTSEC-2023-0071), and an attack on it needs very many measurements (contract BR19).
 */
import { openLimiter, openRecentlyUsed } from "../../../base/kernel/recently_used.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";

const DAY_SECONDS = 86_400;
/** Returns in the browser that began the session: a customer has one, or a few that are loaded again. */
const A_SESSION = { perSecond: 1 / 3600, burst: 5, maxKeys: 100_000 };
/** All others, from all addresses together. */
const OTHERS = { perSecond: 10_000 / DAY_SECONDS, burst: 2000, maxKeys: 1 };

/**
 * Takes one decryption, for the browser that began the session or for another one.
 *
 * @throws {ApiError} `platform.unavailable` if none is left
 */
export type TakeDecryption = (correlationId: string | undefined) => void;

/** What a bank delivers on the back channel and cannot be decrypted or verified. */
const OF_A_BANK = { perSecond: 1000 / DAY_SECONDS, burst: 50, maxKeys: 10_000 };

/** Bounds the results that a bank delivers on the back channel and that are not authentic. */
export interface DeliveryLimit {
  /**
   * Called before a result is decrypted.
   *
   * @throws {ApiError} `platform.unavailable` if too many before it were not authentic
   */
  expect(bank: BankCode): void;
  noteFailure(bank: BankCode): void;
}

export function openDeliveryLimit(clock: Clock): DeliveryLimit {
  const failures = openLimiter(OF_A_BANK, clock);
  const closedUntil = openRecentlyUsed<number>(OF_A_BANK.maxKeys);
  return {
    expect(bank) {
      const until = closedUntil.get(bank);
      const now = clock();
      if (until === undefined || now >= until) return;
      const retryAfterSeconds = Math.ceil((until - now) / 1000);
      const detail = "too many results that the bank delivered were not authentic";
      throw new ApiError("platform.unavailable", { detail, retryAfterSeconds });
    },
    noteFailure(bank) {
      closedUntil.set(bank, clock() + failures.take(bank) * 1000);
    },
  };
}

export function openDecryptionLimit(clock: Clock): TakeDecryption {
  const [ofSession, ofOthers] = [openLimiter(A_SESSION, clock), openLimiter(OTHERS, clock)];
  return (correlationId) => {
    if (correlationId !== undefined && ofSession.take(correlationId) === 0) return;
    const retryAfterSeconds = ofOthers.take("");
    if (retryAfterSeconds === 0) return;
    throw new ApiError("platform.unavailable", {
      detail: "too many results of banks were decrypted for browsers that began no session",
      retryAfterSeconds,
    });
  };
}

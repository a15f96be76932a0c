/**
 * While a bank's orders are held after a restore, the platform does not know which of its payments the bank has
 * executed. A TPP that received "rejected" or "not found" could make its customer pay again, so it gets 503 instead
 * (Decision G9).
 */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Reader } from "../../../base/store/store.ts";
import { type HoldStore, isHeldIn } from "./hold_store.ts";

const RETRY_AFTER_SECONDS = 60;

/**
 * Returns a check for TPPs' requests at a bank. It throws {ApiError} `platform.unavailable` while the bank's orders
 * are held.
 */
export function rejectWhileHeld(
  holds: Pick<HoldStore, "find">,
): (from: Reader, bank: BankCode) => Promise<void> {
  const isHeld = isHeldIn(holds);
  return async (from, bank) => {
    if (!await isHeld(from, bank)) return;
    throw new ApiError("platform.unavailable", {
      detail: "the bank is not reconciled after a restore",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}

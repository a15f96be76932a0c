/** Personal data whose key is lost, because the data key store was restored from a copy that lacks it. */
import { ApiError } from "../../../base/kernel/api_error.ts";

const RETRY_AFTER_SECONDS = 3600;

/**
 * "Not found" could make a TPP's customer pay again, so it gets 503 instead.
 *
 * @throws {ApiError} `platform.unavailable`
 */
export function rejectLost({ isLost }: { readonly isLost?: true }): void {
  if (isLost !== true) return;
  throw new ApiError("platform.unavailable", {
    detail: "the key of its personal data is lost",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

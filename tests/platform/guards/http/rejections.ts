/** A decoder's rejections as plain data to compare. */
import { ApiError } from "../../../../src/base/kernel/api_error.ts";

/** The ApiError that the call throws; any other outcome is thrown on. */
export function rejectionOf(call: () => unknown): ApiError {
  try {
    call();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing was rejected");
}

/** The faults that the call is rejected with, as `code path`. */
export function faultsOf(call: () => unknown): string[] {
  return (rejectionOf(call).parts.faults ?? []).map(({ code, path }) =>
    path === undefined ? code : `${code} ${path}`
  );
}

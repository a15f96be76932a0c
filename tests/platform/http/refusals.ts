/** What a decoder refuses, as plain data to compare. */
import { Refusal } from "../../../src/base/kernel/api_error.ts";

/** The Refusal that the call throws; any other outcome is thrown on. */
export function refusalOf(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The faults that the call is refused with, as `code path`. */
export function faultsOf(call: () => unknown): string[] {
  return (refusalOf(call).parts.faults ?? []).map(({ code, path }) =>
    path === undefined ? code : `${code} ${path}`
  );
}

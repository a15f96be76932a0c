/**
 * Standing: whether a participant may start a flow here (Decision G5). Callers that are not active are not
 * authenticated. For a bank that is not active, TPPs' requests to start a flow are rejected with a reason.
 */
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Caller } from "./caller.ts";

/**
 * Set by the directory: active, suspended (temporary), withdrawn (permanent). Set by this platform's operator:
 * blocked.
 */
export type Standing = "active" | "suspended" | "withdrawn" | "blocked";

/**
 * Returns a participant's current standing.
 *
 * @throws {ApiError} `platform.unavailable` if the status list is too old
 */
export type StandingOf = (participant: Pick<Caller, "clientId" | "orgId">) => Promise<Standing>;

/** The standings of an inactive participant, and of a TPP that has deleted its registration (Decision B7). */
export type Inactive = Exclude<Standing, "active"> | "deregistered";

const WHY: Readonly<Record<Inactive, string>> = {
  suspended: "the directory has suspended it",
  withdrawn: "the directory has withdrawn it",
  blocked: "the operator of this platform has blocked it",
  deregistered: "it has deleted its registration",
};

/** Returns the reason for TPPs and operators, about the bank or the TPP. */
export function whyInactive(who: "bank" | "TPP", standing: Inactive): string {
  return `The ${who} is not active: ${WHY[standing]}.`;
}

/**
 * Rejects requests that start a flow at an inactive bank. Call it after the caller is authenticated, because other
 * callers must not get information about the bank.
 *
 * @throws {ApiError} `bank.not_active`
 */
export async function requireActiveBank(
  standingOf: StandingOf,
  bank: Pick<Caller, "clientId" | "orgId">,
): Promise<void> {
  const standing = await standingOf(bank);
  if (standing === "active") return;
  const message = whyInactive("bank", standing);
  throw new ApiError("bank.not_active", {
    detail: standing,
    description: message,
    faults: [{ code: "UnexpectedError", message }],
  });
}

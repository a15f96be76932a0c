/**
 * Standing: whether a participant may start anything here (Decision G5). Callers that are not active are not
 * authenticated; for a bank that is not active, what others want to start there is rejected with a reason.
 */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Caller } from "./caller.ts";

/** By the directory: active, suspended for now, withdrawn for good. By this platform's operator: blocked. */
export type Standing = "active" | "suspended" | "withdrawn" | "blocked";

/** A participant's standing now. @throws {ApiError} `platform.unavailable` if the directory's word is too old to go by */
export type StandingOf = (participant: Pick<Caller, "clientId" | "orgId">) => Promise<Standing>;

/** Why a participant cannot start anything. */
export type Inactive = Exclude<Standing, "active">;

const WHY: Readonly<Record<Inactive, string>> = {
  suspended: "the directory has suspended it",
  withdrawn: "the directory has withdrawn it",
  blocked: "the operator of this platform has blocked it",
};

/** Words for TPPs and operators, about the bank or the TPP. */
export function whyInactive(who: "bank" | "TPP", standing: Inactive): string {
  return `The ${who} is not active: ${WHY[standing]}.`;
}

/**
 * For what starts something at a bank, behind the proof of the caller: one who is not active must not learn of the bank.
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

/** Scopes: `payments` for TPPs and `bank` for banks (contract TC3). */
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { described, mismatch, quoted } from "../../../base/kernel/result.ts";
import type { Caller } from "../../guards/security/caller.ts";

/**
 * Returns the caller's only scope at this bank if it was requested. Order and repetition do not matter (RFC 6749
 * §3.3).
 *
 * @throws {ApiError} `oauth.invalid_scope`, also for a bank at another bank, because `bank` allows that bank's back
 * channel
 */
export function requireScope(
  requested: string | undefined,
  caller: Caller,
  bank: BankCode,
): "payments" | "bank" {
  const scope = caller.role === "PISP" ? "payments" : "bank";
  if (scope === "bank" && caller.orgId !== bank) { // Decision A4: a bank's code is its org_id
    const { fault } = described(
      "the bank in the path",
      `${quoted(caller.orgId)} (your own code)`,
      quoted(bank),
    );
    const description = "A bank gets tokens at its own address only.";
    throw new ApiError("oauth.invalid_scope", { description, fault });
  }
  const asked = new Set((requested ?? "").split(" ").filter((token) => token !== ""));
  if (asked.size === 1 && asked.has(scope)) return scope;
  const { fault } = mismatch("scope", quoted(scope), requested);
  throw new ApiError("oauth.invalid_scope", { description: `scope must be ${scope}.`, fault });
}

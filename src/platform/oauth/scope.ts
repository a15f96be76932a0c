/** Scopes: `payments` for TPPs, `bank` for banks, nothing else (contract TC3). */
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Caller } from "../security/caller.ts";

/**
 * The caller's one scope at this bank, where it was asked for: order and repetition do not count (RFC 6749 §3.3).
 *
 * @throws {ApiError} `oauth.invalid_scope`, also to a bank at another bank: `bank` opens that bank's back channel
 */
export function requireScope(
  requested: string | undefined,
  caller: Caller,
  bank: BankCode,
): "payments" | "bank" {
  const scope = caller.role === "PISP" ? "payments" : "bank";
  if (scope === "bank" && caller.orgId !== bank) { // Decision A4: a bank's code is its org_id
    throw new ApiError("oauth.invalid_scope", { description: "A bank gets tokens at its own address only." });
  }
  const asked = new Set((requested ?? "").split(" ").filter((token) => token !== ""));
  if (asked.size === 1 && asked.has(scope)) return scope;
  throw new ApiError("oauth.invalid_scope", { description: `scope must be ${scope}.` });
}

/** Scopes: `payments` for TPPs, `bank` for banks, nothing else (interface "Authentication" 3). */
import { Refusal } from "../kernel/refusal.ts";
import type { Caller } from "../security/caller.ts";

/** The caller's one scope, where it was asked for: order and repetition do not count (RFC 6749 3.3). */
export function requireScope(requested: string | undefined, caller: Caller): "payments" | "bank" {
  const scope = caller.role === "PISP" ? "payments" : "bank";
  const asked = new Set((requested ?? "").split(" ").filter((token) => token !== ""));
  if (asked.size === 1 && asked.has(scope)) return scope;
  throw new Refusal("oauth.invalid_scope", { description: `scope must be ${scope}.` });
}

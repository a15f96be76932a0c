/** Checks the time claims of a JWT (contract LT1 to LT12). jose's own checks accept Infinity and a future `iat`. */
import { EXPIRY_SKEW_SECONDS, FUTURE_SKEW_SECONDS } from "../limits.ts";
import type { JsonObject } from "./compact_jws.ts";

/** Rules for the times of one kind of JWT, in seconds. */
export interface TimeRules {
  readonly exp: "required" | "optional";
  readonly iat: "required" | "optional";
  /** Limit of `exp` minus now. */
  readonly maxAhead?: number;
  /** Limit of `exp` minus `iat`. */
  readonly maxLifetime?: number;
  /** Limit of now minus `iat`. */
  readonly maxAge?: number;
}

/**
 * Checks `exp`, `iat` and `nbf`. Returns the fault, or undefined if there is none.
 *
 * @param now Unix seconds
 */
export function timeFault(claims: JsonObject, rules: TimeRules, now: number): string | undefined {
  const exp = time(claims, "exp", rules.exp === "required");
  const iat = time(claims, "iat", rules.iat === "required");
  const nbf = time(claims, "nbf", false);
  if (exp === "bad" || iat === "bad" || nbf === "bad") return "exp, iat or nbf missing or no number";
  if (exp !== undefined && now >= exp + EXPIRY_SKEW_SECONDS) return "expired";
  if (exp !== undefined && rules.maxAhead !== undefined && exp > now + rules.maxAhead) {
    return "exp too far ahead";
  }
  if (iat !== undefined && iat > now + FUTURE_SKEW_SECONDS) return "iat in the future";
  if (nbf !== undefined && nbf > now + FUTURE_SKEW_SECONDS) return "nbf in the future";
  if (iat !== undefined && rules.maxAge !== undefined && iat < now - rules.maxAge) return "iat too old";
  if (
    exp !== undefined && iat !== undefined && rules.maxLifetime !== undefined && exp - iat > rules.maxLifetime
  ) {
    return "lives too long";
  }
  return undefined;
}

function time(claims: JsonObject, name: string, required: boolean): number | undefined | "bad" {
  if (!Object.hasOwn(claims, name)) return required ? "bad" : undefined;
  const value = claims[name];
  return typeof value === "number" && Number.isFinite(value) ? value : "bad";
}

/** Warns at the start in production if customers cannot see whose pages they are on. */
import type { Config } from "../config/config.ts";
import type { Log } from "../observed/log_events.ts";

const VARIABLES = [
  ["name", "PLATFORM_OPERATOR_NAME"],
  ["logo", "PLATFORM_OPERATOR_LOGO"],
  ["support", "PLATFORM_OPERATOR_SUPPORT"],
] as const;

/** Logs `platform.operator_unnamed` with the variables that are not set. */
export function warnIfUnnamed(
  { environment, operator }: Pick<Config, "environment" | "operator">,
  log: Pick<Log, "warn">,
): void {
  const missing = VARIABLES.filter(([member]) => operator[member] === undefined).map(([, name]) => name);
  if (environment === "Production" && missing.length > 0) {
    log.warn("platform.operator_unnamed", { missing: missing.join(" ") });
  }
}

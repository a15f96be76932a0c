/**
 * Structured log lines, one JSON object each. Callers pass names and ids only, never a token, code, assertion, proof
 * or body.
 */
import type { Clock } from "../kernel/clock.ts";

/** Severity, lowest first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type LogSink = (line: string) => void;

/** A log. Example: `log.info("payment.created", {paymentId})`. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

const ORDER: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Opens a log that writes lines of at least `level` to `sink`. */
export function openLog(
  deps: { readonly clock: Clock; readonly sink: LogSink; readonly level: LogLevel },
): Log {
  const least = ORDER.indexOf(deps.level);
  const at = (level: LogLevel) => (event: string, fields: LogFields = {}): void => {
    if (ORDER.indexOf(level) < least) return;
    deps.sink(formatLine(deps.clock, level, event, fields));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Formats one line, without its line break. */
export function formatLine(clock: Clock, level: LogLevel, event: string, fields: LogFields): string {
  return JSON.stringify({ at: new Date(clock()).toISOString(), level, event, ...fields });
}

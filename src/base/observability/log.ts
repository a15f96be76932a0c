/**
 * Structured log lines, one JSON object each. Every event is declared with its level and its fields, so that a program
 * can write no other. Callers pass names and ids only, never a token, code, assertion, proof or body.
 */
import type { Clock } from "../kernel/clock.ts";

/** Severity, lowest first. */
export type LogLevel = "debug" | "info" | "warn" | "error";
/** `security` is a level of its own, which no configuration hides. */
export type EventLevel = LogLevel | "security";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type LogSink = (line: string) => void;

/** The declaration of one kind of event. */
export interface LogEvent {
  /** Several levels if the importance depends on the circumstances. */
  readonly level: EventLevel | readonly EventLevel[];
  readonly fields: readonly string[];
  /** A sentence for operators. */
  readonly meaning: string;
  /** The action for operators. Absent if none is needed. */
  readonly act?: string;
}

/** The events of a program by name. */
export type LogEvents = Readonly<Record<string, LogEvent>>;

type LevelsOf<D extends LogEvent> = D["level"] extends readonly (infer L)[] ? L : D["level"];
type NamesAt<E extends LogEvents, L extends EventLevel> =
  & { [N in keyof E]: L extends LevelsOf<E[N]> ? N : never }[keyof E]
  & string;
type FieldsOf<D extends LogEvent> = { readonly [F in D["fields"][number]]?: LogFields[string] };
type Write<E extends LogEvents, L extends EventLevel> = <N extends NamesAt<E, L>>(
  event: N,
  fields?: FieldsOf<E[N]>,
) => void;

/** A log of declared events. Example: `log.info("payment.created", {paymentId})`. */
export type EventLog<E extends LogEvents> = { readonly [L in EventLevel]: Write<E, L> };

const ORDER: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Opens a log that writes lines of at least `level`, and every security event, to `sink`. */
export function openLog<E extends LogEvents>(
  deps: {
    readonly clock: Clock;
    readonly sink: LogSink;
    readonly level: LogLevel;
    /** Returns what is known of the request in whose course a line is written. */
    readonly context?: () => object | undefined;
  },
): EventLog<E> {
  const least = ORDER.indexOf(deps.level);
  const at = (level: EventLevel) => (event: string, fields: LogFields = {}): void => {
    if (level !== "security" && ORDER.indexOf(level) < least) return;
    deps.sink(formatLine(deps.clock, level, event, { ...deps.context?.(), ...fields }));
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    security: at("security"),
  };
}

/** Formats one line, without its line break. */
export function formatLine(clock: Clock, level: EventLevel, event: string, fields: LogFields): string {
  return JSON.stringify({ at: new Date(clock()).toISOString(), level, event, ...fields });
}

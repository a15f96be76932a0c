/**
 * The result of a function that can fail for a reason. The caller decides what a failure means: a rejected request, a
 * retry, or a line in the log.
 */
import { boundedText } from "./foreign_text.ts";

/** A value, or the fault that prevented it. */
export type Result<T, F = Mismatch> = { readonly ok: true; readonly value: T } | Failure<F>;

export interface Failure<F = Mismatch> {
  readonly ok: false;
  readonly fault: F;
}

/** One part of another party's message that is not as expected. */
export interface Mismatch {
  /** The part, such as a claim or a header member. Never text of the other party, so it may be logged. */
  readonly at: string;
  /** Completes "must be …". Never text of the other party, so it may be logged. */
  readonly expected: string;
  /**
   * The other party's value, bounded, to be shown to that party only. It may be personal, so it is not logged. Absent
   * if the part is missing or has no short form.
   */
  readonly received?: string;
}

/** Why an operation has no result, such as a fetch that failed. For the log. */
export interface Reason {
  readonly why: string;
}

const MAX_RECEIVED_CHARACTERS = 64;

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function failed<F>(fault: F): Failure<F> {
  return { ok: false, fault };
}

export function because(why: string): Failure<Reason> {
  return failed({ why });
}

/**
 * Returns a failed result about one part of a message.
 *
 * @param received the value in the message; undefined if the part is missing or must not be shown
 */
export function mismatch(at: string, expected: string, received?: unknown): Failure {
  return failed(received === undefined ? { at, expected } : { at, expected, received: shown(received) });
}

/** Describes a fault for the log, without the other party's text. */
export function faultText({ at, expected }: Mismatch): string {
  return `${at} must be ${expected}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return boundedText(String(value), MAX_RECEIVED_CHARACTERS);
}

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
   * Completes "got …": the other party's value, quoted and bounded, or words about it. It is shown to that party only.
   * It may be personal, so it is not logged. Absent if the part is missing or has no short form.
   */
  readonly received?: string;
}

/** Why an operation has no result, such as a fetch that failed. For the log. */
export interface Reason {
  readonly why: string;
}

const MAX_RECEIVED_CHARACTERS = 128;

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
  return failed(received === undefined ? { at, expected } : { at, expected, received: showValue(received) });
}

/**
 * Returns a failed result like {@link mismatch}, with words about the received value instead of the value.
 *
 * @param received completes "got …", such as `612 s old`; never text of the other party
 */
export function describedMismatch(at: string, expected: string, received: string): Failure {
  return failed({ at, expected, received });
}

/** Returns the failure as one in a part of a larger message: `aud` in `client_assertion`. */
export function within<F extends Mismatch>(message: string, fault: F): F {
  return { ...fault, at: fault.at === WHOLE ? message : `${message} ${fault.at}` };
}

/** The part of a fault that concerns a whole token. */
export const WHOLE = "token";

/** Quotes a value in `expected`: a value of the platform, or one that the reader has sent. */
export function quote(value: string): string {
  return `'${boundedText(value, MAX_QUOTED_CHARACTERS)}'`;
}

/** A redirect URL or an issuer that the platform expects is shown whole if it has a usual length. */
const MAX_QUOTED_CHARACTERS = 256;

/** Describes a fault for the log, without the other party's text. */
export function faultText({ at, expected }: Mismatch): string {
  return `${at} must be ${expected}`;
}

/**
 * Describes a fault for the party that has sent the message, in at most 500 characters of an `error_description` (RFC
 * 6749 §5.2) without `<` and `>`. Other characters are percent-encoded.
 */
export function explanation(fault: Mismatch): string {
  const got = fault.received === undefined ? "" : `; got ${fault.received}`;
  const text = `${faultText(fault)}${got}.`.replaceAll('"', "'").replaceAll(UNPRINTABLE, encodeCharacter);
  return text.length <= MAX_EXPLANATION_CHARACTERS
    ? text
    : `${text.slice(0, MAX_EXPLANATION_CHARACTERS - 3)}...`;
}

const MAX_EXPLANATION_CHARACTERS = 500;
const UNPRINTABLE = /[^\x20-\x3b\x3d\x3f-\x5b\x5d-\x7e]/gu;

function encodeCharacter(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

function showValue(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string") return `'${boundedText(value, MAX_RECEIVED_CHARACTERS)}'`;
  return boundedText(String(value), MAX_RECEIVED_CHARACTERS);
}

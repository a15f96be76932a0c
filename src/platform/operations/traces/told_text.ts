/** The explanation of a fault in a trace. No I/O. */
import { explanation, type Mismatch } from "../../../base/kernel/result.ts";
import { maskedText } from "./masked_text.ts";

/** Returns the words for a fault. A received value may be a credential or personal, and the trace is kept for days. */
export function toldText({ at, expected, received }: Mismatch): string {
  return explanation(
    received === undefined ? { at, expected } : { at, expected, received: maskedText(received) },
  );
}

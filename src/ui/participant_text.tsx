/**
 * Text that a participant chose (a company's name, a reference), drawn so that it cannot pass for the platform's own:
 * set apart from the direction of its surroundings, and without characters that reorder or hide text.
 */
import type { JSX } from "hono/jsx/jsx-runtime";

// Unicode TR36 2.5: embeddings, overrides, isolates and marks can make a name or an amount read as another.
const REORDERING_OR_INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060-\u206f\ufeff]/gu;

/** The text without control, bidirectional-formatting and zero-width characters. Joiners stay: scripts need them. */
export function plainText(text: string): string {
  return text.replace(REORDERING_OR_INVISIBLE, "");
}

/** The text, isolated. */
export function ParticipantText({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{plainText(text)}</bdi>;
}

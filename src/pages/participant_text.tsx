/**
 * Text that a participant chose (a company's name, a reference), drawn so that it cannot pass for the platform's own:
 * set apart from the direction of its surroundings, and without characters that reorder or hide text.
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { withoutInvisible } from "../base/kernel/foreign_text.ts";

/** The text, isolated. */
export function ParticipantText({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{withoutInvisible(text)}</bdi>;
}

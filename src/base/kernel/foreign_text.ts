/** Makes text of another party safe to store and show: bounded, without characters that hide or deceive. */

/** Control, format (including bidirectional marks), unassigned and private characters, and line separators. */
const DECEPTIVE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns at most `max` code points. Deceptive characters become `\u{…}`, and a text that was cut ends with `…`. */
export function boundedText(text: string, max: number): string {
  // Escaping only makes a text longer, so characters after the first `max` code points are never needed.
  const start = [...text.slice(0, 2 * max + 2)].slice(0, max + 1).join("");
  const escaped = [...start.replaceAll(DECEPTIVE, escapeOf)];
  return escaped.length <= max ? escaped.join("") : `${escaped.slice(0, max - 1).join("")}…`;
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

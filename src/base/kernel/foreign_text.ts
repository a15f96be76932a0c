/** Text that another party wrote, made safe to store and to show: bounded, without characters that hide or deceive. */

/** Control, format (bidirectional marks among them), unassigned and private characters, and line separators. */
const DECEPTIVE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** At most `max` code points of `text`, after deceptive characters have become `\u{…}`; `…` ends a text that was cut. */
export function boundedText(text: string, max: number): string {
  // Escaping only makes a text longer, so that what follows `max` code points is never needed.
  const start = [...text.slice(0, 2 * max + 2)].slice(0, max + 1).join("");
  const escaped = [...start.replaceAll(DECEPTIVE, escapeOf)];
  return escaped.length <= max ? escaped.join("") : `${escaped.slice(0, max - 1).join("")}…`;
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

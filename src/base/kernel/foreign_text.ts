/** Text of other parties: bounded, and without invisible characters. */

// Makes text of another party safe to store and show: bounded, without characters that hide or deceive.

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

// Text that one party writes and another one reads. Characters that hide text or change its direction are removed,
// since they could make a name or an amount look like another (Unicode TR36 2.5, TR39).

/** Begins the flags of England, Scotland and Wales, which invisible tag characters complete. */
const BLACK_FLAG = "\u{1f3f4}";
/**
 * Control characters, direction marks and invisible characters. Joiners and variation selectors are allowed, because
 * some scripts need them.
 */
const INVISIBLE =
  /\p{RGI_Emoji_Tag_Sequence}|[[\p{Cc}\p{Noncharacter_Code_Point}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\p{Join_Control}\p{Variation_Selector}]]/gv;
/** Some filler characters are letters without a shape. */
const VISIBLE_LETTER_OR_DIGIT = /[[\p{L}\p{N}]--\p{Default_Ignorable_Code_Point}]/v;

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, (found) => found.startsWith(BLACK_FLAG) ? found : "");
}

/** Whether the text has no invisible characters and no direction marks. */
export function isPlain(text: string): boolean {
  return withoutInvisible(text) === text;
}

/** Whether the text has a visible letter or digit. */
export function hasVisibleLetter(text: string): boolean {
  return VISIBLE_LETTER_OR_DIGIT.test(text);
}

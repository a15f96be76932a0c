/**
 * Text that one party writes and another one reads. Characters that hide text or change its direction are removed,
 * since they could make a name or an amount look like another (Unicode TR36 2.5, TR39).
 */

/**
 * Control characters, direction marks and invisible characters. Joiners and variation selectors are allowed, because
 * some scripts need them.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\p{Join_Control}\p{Variation_Selector}]]/gv;
/** Some filler characters are letters without a shape. */
const VISIBLE_LETTER_OR_DIGIT = /[[\p{L}\p{N}]--\p{Default_Ignorable_Code_Point}]/v;

export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, "");
}

/** Whether the text has no invisible characters and no direction marks. */
export function isPlain(text: string): boolean {
  return withoutInvisible(text) === text;
}

/** Whether the text has a visible letter or digit. */
export function hasVisibleLetter(text: string): boolean {
  return VISIBLE_LETTER_OR_DIGIT.test(text);
}

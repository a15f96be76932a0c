/**
 * Text that one party writes and another one reads (Unicode TR36 2.5, TR39): what hides or turns it is not part of it,
 * since a name or an amount could be read as another.
 */

/** Controls, direction marks and characters without a shape. Joiners and variation selectors stay: scripts need them. */
const INVISIBLE =
  /[[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\p{Join_Control}\p{Variation_Selector}]]/gv;
/** Some fillers are letters without a shape. */
const VISIBLE_LETTER_OR_DIGIT = /[[\p{L}\p{N}]--\p{Default_Ignorable_Code_Point}]/v;

/** The text without invisible and text-direction characters. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, "");
}

/** Whether the text has no invisible and no text-direction character. */
export function isPlain(text: string): boolean {
  return withoutInvisible(text) === text;
}

/** Whether the text has a letter or a digit that a reader can see. */
export function hasVisibleLetter(text: string): boolean {
  return VISIBLE_LETTER_OR_DIGIT.test(text);
}

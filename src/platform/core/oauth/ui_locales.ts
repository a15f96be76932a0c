/**
 * `ui_locales` of an authorization request (OpenID Connect Core 1.0 §3.1.2.1; registered for OAuth): the customer's
 * languages, best first, separated by spaces. It is only a preference, so unusable values are ignored and never
 * rejected.
 */

/** RFC 5646 §4.4.1: enough for every registered language, script, region and variant. */
const MAX_TAG_CHARACTERS = 35;
const MAX_TAGS = 8;
const TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

/** Returns the first language tags, at most 8. */
export function readUiLocales(value: string | undefined): readonly string[] {
  const tags = (value ?? "").split(" ").filter((tag) => tag.length <= MAX_TAG_CHARACTERS && TAG.test(tag));
  return tags.slice(0, MAX_TAGS);
}

/**
 * Takes a message from the reader's catalogue and fills its placeholders, with text or with elements. A placeholder
 * left out, or one too many, does not compile.
 */
import type { Child } from "hono/jsx";
import type { Language } from "./language.ts";
import { MESSAGES_AR } from "./messages_ar.ts";
import { type MessageKey, type Messages, MESSAGES_EN } from "./messages_en.ts";
import { MESSAGES_ES } from "./messages_es.ts";
import { MESSAGES_FR } from "./messages_fr.ts";

/** Every catalogue. */
export const CATALOGUES: Readonly<Record<Language, Messages>> = {
  en: MESSAGES_EN,
  es: MESSAGES_ES,
  fr: MESSAGES_FR,
  ar: MESSAGES_AR,
};

type PlaceholderOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderOf<Rest>
  : never;
type Values<Key extends MessageKey> = Readonly<Record<PlaceholderOf<typeof MESSAGES_EN[Key]>, Child>>;
/** Empty for a message without placeholders, else a value for each. */
type ValuesOf<Key extends MessageKey> = PlaceholderOf<typeof MESSAGES_EN[Key]> extends never ? []
  : [values: Values<Key>];

const PLACEHOLDER = /\{(\w+)\}/;

/** The message as children of an element: its text is escaped when it is drawn, like any other child. */
export function phrase<Key extends MessageKey>(
  language: Language,
  key: Key,
  ...values: ValuesOf<Key>
): Child[] {
  const given = new Map<string, Child>(Object.entries(values[0] ?? {}));
  // `split` puts what the group captured, the names, at the odd places.
  return CATALOGUES[language][key].split(PLACEHOLDER).map((part, place) =>
    place % 2 === 0 ? part : given.get(part)
  );
}

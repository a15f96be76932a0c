/**
 * Formats the messages of a program: ICU messages (`intl-messageformat`), one JSON file for each language. Values are
 * text, numbers or elements. Each message is compiled at its first use.
 */
import type { Child } from "hono/jsx";
import { IntlMessageFormat } from "intl-messageformat";
import { type Language, LOCALES } from "./language.ts";

/** A catalogue for each language. A language that lacks a message of the English one does not compile. */
export type Catalogues<Key extends string> = Readonly<Record<Language, Readonly<Record<Key, string>>>>;

/** The names of the arguments of each message that has any. */
export type Arguments<Key extends string> = Readonly<Partial<Record<Key, readonly string[]>>>;

type NameOf<Named, Key> = Key extends keyof Named ? Named[Key] extends readonly (infer Name)[] ? Name : never
  : never;
/** Empty for a message without arguments, else a value for each. */
type ValuesOf<Named, Key, Value> = [NameOf<Named, Key>] extends [never] ? []
  : [values: Readonly<Record<NameOf<Named, Key> & string, Value>>];

/** Looks up messages. A missing or superfluous value does not compile. */
export interface Phrases<Key extends string, Named> {
  /** As children of an element. Text is escaped when it is drawn, like any other child. */
  readonly phrase: <One extends Key>(
    language: Language,
    key: One,
    ...values: ValuesOf<Named, One, Child>
  ) => Child[];
  /** As plain text, for attributes and titles. */
  readonly words: <One extends Key>(
    language: Language,
    key: One,
    ...values: ValuesOf<Named, One, string | number>
  ) => string;
}

/**
 * The messages of these catalogues. `Named` names their arguments: an imported JSON file has no literal types, so a test
 * compares `Named` with the English messages.
 */
export function messagesOf<Key extends string, Named extends Arguments<Key>>(
  catalogues: Catalogues<Key>,
): Phrases<Key, Named> {
  const compiled = new Map<string, IntlMessageFormat>(); // bounded by the catalogues
  const messageOf = (language: Language, key: Key): IntlMessageFormat => {
    const name = `${language} ${key}`;
    const known = compiled.get(name);
    if (known !== undefined) return known;
    const fresh = compileMessage(catalogues[language][key], language);
    compiled.set(name, fresh);
    return fresh;
  };
  return {
    phrase: (language, key, ...[values]) => partsOf<Child>(messageOf(language, key), values),
    words: (language, key, ...[values]) => partsOf(messageOf(language, key), values).join(""),
  };
}

/** @throws {SyntaxError} if the text is not an ICU message */
export function compileMessage(text: string, language: Language): IntlMessageFormat {
  return new IntlMessageFormat(text, LOCALES[language], undefined, { ignoreTag: true });
}

function partsOf<Value>(
  message: IntlMessageFormat,
  values: Readonly<Record<string, Value>> | undefined,
): (Value | string)[] {
  return message.formatToParts<Value>(values).map(({ value }) => value);
}

/**
 * Fills the placeholders of a message, with text or with elements. A missing or superfluous placeholder does not
 * compile.
 */
import type { Child } from "hono/jsx";
import type { Language } from "./language.ts";

/** A catalogue for each language. */
export type Catalogues<English> = Readonly<Record<Language, Readonly<Record<keyof English, string>>>>;

type PlaceholderOf<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceholderOf<Rest>
  : never;
type ValuesOf<Text, Value> = [PlaceholderOf<Text>] extends [never] ? []
  : [values: Readonly<Record<PlaceholderOf<Text>, Value>>];

/** Looks up messages in catalogues. */
export interface Phrases<English> {
  /** As children of an element. */
  readonly phrase: <Key extends keyof English>(
    language: Language,
    key: Key,
    ...values: ValuesOf<English[Key], Child>
  ) => Child[];
  /** As plain text, for attributes and titles. */
  readonly words: <Key extends keyof English>(
    language: Language,
    key: Key,
    ...values: ValuesOf<English[Key], string>
  ) => string;
}

const PLACEHOLDER = /\{(\w+)\}/;

/** The messages of these catalogues; `English` names them and their placeholders. */
export function phrasesOf<English>(catalogues: Catalogues<English>): Phrases<English> {
  return {
    phrase: (language, key, ...[values]) => filled<Child>(catalogues[language][key], values),
    words: (language, key, ...[values]) => filled<string>(catalogues[language][key], values).join(""),
  };
}

/** `split` puts the captured names at the odd indexes. */
function filled<Value>(
  text: string,
  values: Readonly<Record<string, Value>> | undefined,
): (Value | string)[] {
  const given = new Map<string, Value>(Object.entries(values ?? {}));
  return text.split(PLACEHOLDER).map((part, place) => place % 2 === 0 ? part : given.get(part) ?? "");
}

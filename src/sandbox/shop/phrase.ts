/** The shop's catalogues, and the functions that look up their messages. */
import { phrasesOf } from "../pages/phrase.ts";
import { MESSAGES_AR } from "./messages_ar.ts";
import { type MessageKey, MESSAGES_EN } from "./messages_en.ts";
import { MESSAGES_ES } from "./messages_es.ts";
import { MESSAGES_FR } from "./messages_fr.ts";

/** Every catalogue of the shop. */
export const CATALOGUES = { en: MESSAGES_EN, es: MESSAGES_ES, fr: MESSAGES_FR, ar: MESSAGES_AR } as const;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = phrasesOf<typeof MESSAGES_EN>(CATALOGUES);

/** Remembers the language that a customer of the shop chose. */
export const LANGUAGE_COOKIE = "shop_language";

export function isMessage(key: string): key is MessageKey {
  return Object.hasOwn(MESSAGES_EN, key);
}

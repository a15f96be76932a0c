/** The banks' catalogues, and the functions that look up their messages. */
import { phrasesOf } from "../pages/phrase.ts";
import { MESSAGES_AR } from "./page_messages_ar.ts";
import { MESSAGES_EN } from "./page_messages_en.ts";
import { MESSAGES_ES } from "./page_messages_es.ts";
import { MESSAGES_FR } from "./page_messages_fr.ts";

/** Every catalogue of the banks. */
export const CATALOGUES = { en: MESSAGES_EN, es: MESSAGES_ES, fr: MESSAGES_FR, ar: MESSAGES_AR } as const;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = phrasesOf<typeof MESSAGES_EN>(CATALOGUES);

/** Remembers the language that a customer of the banks chose. */
export const LANGUAGE_COOKIE = "bank_language";

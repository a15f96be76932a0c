/** The shop's messages to its customers. */
import { type Catalogues, messagesOf } from "../../pages/messages.ts";
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };

/** The name of a message. */
export type MessageKey = keyof typeof en;

/** Every catalogue of the shop. */
export const CATALOGUES: Catalogues<MessageKey> = { en, es, fr, ar };

/** The arguments of each message that has any. */
export const ARGUMENTS = {
  "frame.error": ["title"],
  "goods.pay": ["price", "what"],
  "goods.payFor": ["good"],
} as const;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

/** Remembers the language that a customer of the shop chose. */
export const LANGUAGE_COOKIE = "shop_language";

export function isMessage(key: string): key is MessageKey {
  return Object.hasOwn(en, key);
}

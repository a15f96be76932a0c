/** The banks' messages to their customers. */
import { type Catalogues, messagesOf } from "../../pages/messages.ts";
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };

/** The name of a message. */
export type MessageKey = keyof typeof en;

/** Every catalogue of the banks. */
export const CATALOGUES: Catalogues<MessageKey> = { en, es, fr, ar };

/** The arguments of each message that has any. */
export const ARGUMENTS = {
  "frame.error": ["title"],
  "login.asks": ["tpp"],
  "login.hint": ["username", "password"],
  "code.hint": ["code"],
  "consent.balance": ["amount"],
  "consent.otherCurrency": ["currency"],
  "payment.payee": ["tpp"],
  "payment.reference": ["tpp"],
  "complaint.triesLeft": ["count"],
  "home.title": ["bank"],
  "home.known": ["code"],
  "home.secrets": ["password", "code"],
  "home.username": ["username"],
  "faults.text": ["body", "path"],
} as const;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

/** Remembers the language that a customer of the banks chose. */
export const LANGUAGE_COOKIE = "bank_language";

/** The messages of the directory's console that other consoles do not have. */
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import { type Catalogues, messagesOf } from "../../pages/messages.ts";

export type MessageKey = keyof typeof en;

/** Every catalogue. */
export const CATALOGUES: Catalogues<MessageKey> = { en, es, fr, ar };

/** The arguments of each message that has any. */
export const ARGUMENTS = {
  "participant.issued": ["time"],
  "restored.lead": ["time"],
  "public.lead": ["environment", "issuer", "keys", "authority"],
  "public.activeOf": ["name"],
  "public.revokedOf": ["name"],
} as const;

/** A message without arguments. */
export type PlainKey = Exclude<MessageKey, keyof typeof ARGUMENTS>;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

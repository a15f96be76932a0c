/** The platform's messages to customers: plain words, whole sentences, no protocol terms. */
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import { type Catalogues, messagesOf } from "./messages.ts";

/** The name of a message. */
export type MessageKey = keyof typeof en;

/** Every catalogue. */
export const CATALOGUES: Catalogues<MessageKey> = { en, es, fr, ar };

/** The arguments of each message that has any. */
export const ARGUMENTS = {
  "layout.backTo": ["tpp"],
  "layout.help": ["contact"],
  "consent.asks": ["tpp", "bank"],
  "consent.written": ["tpp"],
  "consent.payee": ["tpp"],
  "consent.accountEnding": ["ending"],
  "consent.balance": ["amount"],
  "consent.otherCurrency": ["accountCurrency", "paymentCurrency"],
  "consent.ifAccept": ["tpp", "amount"],
  "consent.thisPage": ["bank"],
  "consent.ifRefuse": ["tpp"],
  "consent.timeLeft": ["duration", "time"],
  "consent.accept": ["amount"],
  "waiting.confirm": ["tpp", "bank"],
  "waiting.timeLeft": ["duration", "time"],
  "scheme.cardEnding": ["ending"],
  "receipt.asOf": ["time"],
  "receipt.payee": ["tpp"],
  "levels.lead": ["from", "until", "time"],
  "levels.state.degraded": ["time"],
  "levels.state.down": ["time"],
  "levels.state.planned_outage": ["time"],
} as const;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

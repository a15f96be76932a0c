/** The messages of the operators' console that other consoles do not have. */
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import { type Catalogues, messagesOf } from "../../../pages/messages.ts";

export type MessageKey = keyof typeof en;

/** Every catalogue. */
export const CATALOGUES: Catalogues<MessageKey> = { en, es, fr, ar };

/** The arguments of each message that has any. */
export const ARGUMENTS = {
  "dashboard.at": ["time"],
  "dashboard.allBanks": ["count"],
  "bulk.select": ["amount"],
  "bulk.confirm": ["count"],
  "hour.today": ["value"],
  "endings.more": ["count"],
  "endings.unread": ["count"],
  "orders.lastAttempt": ["why"],
  "orders.ofBank": ["bank"],
  "orders.tries": ["count"],
  "orders.heldCount": ["count"],
  "orders.nextPush": ["time"],
  "banks.restored": ["command"],
  "disputes.nextAnswer": ["request"],
  "disputes.nextWithdraw": ["request"],
  "keys.lead": ["command"],
  "audit.lead": ["command"],
  "audit.subject.hint": ["example"],
} as const;

/** A message without arguments. */
export type PlainKey = Exclude<MessageKey, keyof typeof ARGUMENTS>;

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

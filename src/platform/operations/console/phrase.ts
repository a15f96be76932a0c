/** The messages of the operators' console that other consoles do not have. */
import ar from "./locales/ar.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import { type ReasonCode, REASONS } from "../../../base/values/reason_codes.ts";
import { type CheckName, CHECKS } from "../traces/check_names.ts";
import { type Catalogues, messagesOf } from "../../../pages/messages.ts";

type StatusReasonKey = `reason.${ReasonCode}`;
type CheckKey = `check.${CheckName}`;
export type MessageKey = keyof typeof en | StatusReasonKey | CheckKey;

/** English names of status reasons are their meanings. */
const MEANINGS = Object.fromEntries(
  Object.entries(REASONS).map(([code, { meaning }]) => [`reason.${code}`, meaning]),
) as Record<StatusReasonKey, string>;
const CHECK_NAMES = Object.fromEntries(
  Object.entries(CHECKS).map(([name, words]) => [`check.${name}`, words]),
) as Record<CheckKey, string>;

/** Every catalogue. */
export const CATALOGUES: Catalogues<MessageKey> = { en: { ...en, ...MEANINGS, ...CHECK_NAMES }, es, fr, ar };

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
  "list.first": ["shown", "count", "command"],
  "audit.lead": ["command"],
  "audit.subject.hint": ["example"],
  "actor.operator": ["name"],
} as const;

/** A message without arguments. */
export type PlainKey = Exclude<MessageKey, keyof typeof ARGUMENTS>;

/** Returns the message of this name, or undefined: a code can be newer than the messages. */
export function messageNamed(name: string): PlainKey | undefined {
  return Object.hasOwn(CATALOGUES.en, name) ? name as PlainKey : undefined;
}

/** A message as children of an element, or as plain text. */
export const { phrase, words } = messagesOf<MessageKey, typeof ARGUMENTS>(CATALOGUES);

/** What a customer's account is called, in the reader's language. */
import type { Language } from "../pages/language.ts";
import type { CustomerAccount } from "./customers.ts";
import type { MessageKey } from "./page_messages_en.ts";
import { words } from "./page_phrase.ts";

const KNOWN: ReadonlyMap<string, Extract<MessageKey, `account.${string}`>> = new Map([
  ["Current account", "account.current"],
  ["Savings account", "account.savings"],
  ["Sterling account", "account.sterling"],
]);

/** The account's name; a name that the bank did not give stays as it is. */
export function accountLabel(language: Language, { label }: CustomerAccount): string {
  const key = KNOWN.get(label);
  return key === undefined ? label : words(language, key);
}

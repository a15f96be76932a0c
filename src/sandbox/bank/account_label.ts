/** The label of a customer's account in the reader's language. */
import type { Language } from "../../pages/language.ts";
import type { CustomerAccount } from "./customers.ts";
import { type MessageKey, words } from "./page_phrase.ts";

const KNOWN: ReadonlyMap<string, Extract<MessageKey, `account.${string}`>> = new Map([
  ["Current account", "account.current"],
  ["Savings account", "account.savings"],
  ["Sterling account", "account.sterling"],
  ["Multi-currency account", "account.several"],
]);

/** Translates the labels that the sandbox knows. Any other label is returned unchanged. */
export function accountLabel(language: Language, { label }: CustomerAccount): string {
  const key = KNOWN.get(label);
  return key === undefined ? label : words(language, key);
}

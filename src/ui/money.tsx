/** An amount of money inside a sentence: in the reader's form, its parts kept together and in order. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatMoney } from "./formats.ts";
import { directionOf, type Language } from "./language.ts";

/** An amount or balance as a decimal string, with its ISO 4217 code. */
export function Money(
  { language, amount, currency }: {
    readonly language: Language;
    readonly amount: string;
    readonly currency: string;
  },
): JSX.Element {
  // Not left to the first letter: a minus sign would turn an Arabic amount around.
  return <bdi dir={directionOf(language)} class="money">{formatMoney(language, amount, currency)}</bdi>;
}

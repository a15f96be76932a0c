/** An amount of money inside a sentence: in the reader's form, its parts kept together and in order. */
import type { Child } from "hono/jsx";
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
  // Not left to the first letter: a minus sign would turn an Arabic amount around. A hyphen may end a line, a minus not.
  const text = formatMoney(language, amount, currency).replace("-", "\u2212");
  return <bdi dir={directionOf(language)} class="money">{breakable(text)}</bdi>;
}

/** Where an amount is too long for its line, it is broken between thousands or before its currency. */
function breakable(text: string): Child[] {
  return text.split(/(?<=\d[,.\u202f\u00a0])(?=\d{3}(?!\d))|(?<=\d)(?=[\u202f\u00a0]\D)/).flatMap((
    part,
    place,
  ) => place === 0 ? [part] : [<wbr />, part]);
}

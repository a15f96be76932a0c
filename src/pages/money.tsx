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
  const parts = breakable(text);
  return (
    <bdi dir={directionOf(language)} class="money">
      {parts.length === 1 ? text : <Parted parts={parts} text={text} />}
    </bdi>
  );
}

/** Screen readers would read the parts as several numbers. */
function Parted({ parts, text }: { readonly parts: readonly string[]; readonly text: string }): JSX.Element {
  return (
    <>
      <span aria-hidden="true">
        {parts.flatMap((part, place): Child[] => place === 0 ? [part] : [<wbr />, part])}
      </span>
      <span class="visually-hidden">{text}</span>
    </>
  );
}

/** Where an amount is too long for its line, it is broken between thousands or before its currency. */
function breakable(text: string): readonly string[] {
  return text.split(/(?<=\d[,.\u202f\u00a0])(?=\d{3}(?!\d))|(?<=\d)(?=[\u202f\u00a0]\D)/);
}

/** How variables of the configuration are parsed, each with an error that says what to set. */
import { z } from "zod";

/** A variable that `read` parses. `error` says what to set if `read` returns undefined. */
export function readAs<T>(read: (text: string) => T | undefined, error: string): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: error });
    return z.NEVER;
  });
}

/** A variable that is a whole number within bounds. */
export function wholeNumber(least: number, most: number): z.ZodType<number, string> {
  const read = (text: string): number | undefined =>
    /^(0|[1-9]\d{0,5})$/.test(text) && Number(text) >= least && Number(text) <= most
      ? Number(text)
      : undefined;
  return readAs(read, `set it to a whole number from ${least} to ${most}`);
}

/** The parts of a list, without spaces. */
export function commaSeparated(text: string): readonly string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

/** A variable that is a port. */
export const portNumber = z.string().regex(/^[1-9]\d{0,4}$/, { error: "set it to a port number" }).transform(
  Number,
)
  .refine((port) => port <= 65_535, { error: "set it to a port number" });

/** A variable that lists some of the known names, comma separated. @param what they name, in the plural */
export function namesOf<Name extends string>(
  what: string,
  known: readonly Name[],
): z.ZodType<readonly Name[], string> {
  return readAs((text) => readNames(text, known), `set it to ${what}, comma separated: ${known.join(", ")}`);
}

/** The same for a variable with a default, so that the empty list needs a word. */
export function namesOrNone<Name extends string>(
  what: string,
  known: readonly Name[],
): z.ZodType<readonly Name[], string> {
  return readAs(
    (text) => text.trim() === "none" ? [] : readNames(text, known),
    `set it to none, or to ${what}, comma separated: ${known.join(", ")}`,
  );
}

function readNames<Name extends string>(text: string, known: readonly Name[]): readonly Name[] | undefined {
  const names = [...new Set(commaSeparated(text))];
  const found = names.flatMap((name) => known.find((one) => one === name) ?? []);
  return found.length === names.length ? found : undefined;
}

/** Two names of which the first is useless without the second. */
export type NamePair<Name extends string> = readonly [name: Name, needed: Name];

/** The faults of a list that has the first name of a pair without the second. */
export function pairFaults<Name extends string>(
  variable: string,
  names: readonly Name[],
  pairs: readonly NamePair<Name>[],
): string[] {
  return pairs.filter(([name, needed]) => names.includes(name) && !names.includes(needed))
    .map(([name, needed]) =>
      `${variable}: ${name} needs ${needed} too; without it one person alone can do what ${name} leaves to two`
    );
}

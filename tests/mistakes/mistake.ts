/** A mistake that a developer makes, and what its answer must name. */
import type { Workbench } from "./workbench.ts";

export interface Mistake {
  /** The mistake in a few words. */
  readonly name: string;
  /** The faulty part, as the answer must name it. */
  readonly part: string;
  /** The expected value, as the answer must name it. */
  readonly expected: string | ((bench: Workbench) => string | Promise<string>);
  /** Makes the mistake. Everything else about the request is right. */
  readonly make: (bench: Workbench) => Promise<Response>;
  /** Where the party reads what was wrong, if not in the answer: in its trace. */
  readonly told?: (bench: Workbench, answer: Response) => Promise<readonly string[]>;
}

/** A row of a table of mistakes. */
export function mistake(
  [name, part, expected]: readonly [name: string, part: string, expected: Mistake["expected"]],
  make: Mistake["make"],
): Mistake {
  return { name, part, expected, make };
}

/** A check that belongs to one area, such as client assertions. */
export interface Area {
  readonly name: string;
  readonly role: "TPP" | "bank";
  readonly mistakes: readonly Mistake[];
}

/** Describes a mistake in one member of a part: its name, its value, what the answer must name, and how it is wrong. */
export type MemberMistake = (
  name: string,
  value: (bench: Workbench) => unknown,
  expected: Mistake["expected"],
  how: string,
) => Mistake;

/**
 * Describes mistakes in the members of a part, such as the claims of a JWT.
 *
 * @param make sends a request whose part has these members changed
 * @param kind stands before a member's name, such as `header `
 */
export function membersOf(
  part: string,
  make: (bench: Workbench, changed: Readonly<Record<string, unknown>>) => Promise<Response>,
  kind = "",
): MemberMistake {
  return (name, value, expected, how) => ({
    name: `${kind}${name} ${how}`,
    part: `${part} ${kind}${name}`,
    expected,
    make: (bench) => make(bench, { [name]: value(bench) }),
  });
}

/** The checks before a start (`--check`): each has one line, and one that fails does not keep the others from running. */

/** Returns what it found. @throws {Error} with the fault */
type Check = () => Promise<string> | string;

/**
 * Runs the checks in their order.
 *
 * @param print writes a line
 * @returns whether all of them passed
 */
export async function runChecks(
  checks: Readonly<Record<string, Check>>,
  print: (line: string) => void,
): Promise<boolean> {
  let passed = true;
  for (const [name, check] of Object.entries(checks)) {
    try {
      print(`ok     ${name}: ${await check()}`);
    } catch (error) {
      passed = false;
      for (const line of (error instanceof Error ? error.message : String(error)).split("\n")) {
        print(`fault  ${name}: ${line.trim().replace(/^- /, "")}`);
      }
    }
  }
  return passed;
}

/** Programs of one database compare its times with their own. */
const MAX_SKEW_SECONDS = 5;

/** @throws {Error} if another clock is too far ahead, or behind */
export function requireAgreement(whose: string, aheadMs: number): string {
  const seconds = Math.round(aheadMs / 1000);
  if (Math.abs(seconds) <= MAX_SKEW_SECONDS) return `${whose} agrees`;
  throw new Error(
    `${whose} is ${Math.abs(seconds)} s ${
      seconds > 0 ? "ahead" : "behind"
    }; synchronise both computers' clocks`,
  );
}

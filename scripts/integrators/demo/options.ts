/** Parses the command line of the demo. */
import { oneOf } from "../../command_line/option_values.ts";
import { optionsOf } from "../../command_line/run.ts";

/**
 * Who shows the consent, or `implicit` when the account is in the consent already (contract PN6
 * to PN8).
 */
export type ConsentKind = "implicit" | "platform" | "bank";

export interface DemoOptions {
  readonly consent: ConsentKind;
  readonly reject: boolean;
  readonly dispute: boolean;
  readonly json: boolean;
  readonly profile: "a" | "b";
}

/** The text of `--help`. */
export const usage = `Makes one payment end to end in the sandbox and prints each step.

Usage: deno task demo [options]

  --consent implicit   the account is in the consent; Bank A
  --consent platform   the customer chooses the account on the platform's page; Bank A (default)
  --consent bank       the customer chooses the account at the bank; Bank B
  --profile b          sign payloads as OBIE v3.1.4 and later do (default)
  --profile a          sign payloads as OBIE v3.1.2 does (b64 false)
  --refuse             the customer rejects; the exit status is then 3, never 0
  --dispute            then the TPP disputes the payment, and the bank answers
  --json               print the result as JSON on stdout, the steps on stderr

A running sandbox is used where there is one (SANDBOX_DIR, default .data/sandbox); else the demo starts its own.
Exit status:
  0  the payment was accepted
  1  it was not
  2  the options are wrong
  3  the customer rejected, as --refuse asks: the TPP got access_denied, and no payment was made
`;

/** Reads the arguments. @throws {UsageError} */
export function readOptions(args: readonly string[]): DemoOptions {
  const given = optionsOf(args, ["consent", "profile"], ["refuse", "dispute", "json"]);
  return {
    consent: oneOf("consent", given.consent ?? "platform", ["implicit", "platform", "bank"]),
    profile: oneOf("profile", given.profile ?? "b", ["a", "b"]),
    reject: given.refuse ?? false,
    dispute: given.dispute ?? false,
    json: given.json ?? false,
  };
}

/**
 * `deno task certify`: certifies a bank or a TPP against an ecosystem of its own, and writes the report as a page, as
 * JSON and as a signed JWT. Exit status 0 only if every case passed.
 */
import { runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { readOptions } from "./arguments.ts";
import { certifierKeySet, openCertifierKeys } from "./certifier.ts";
import { certify } from "./certify.ts";

type Run = (args: readonly string[], print: (line: string) => void) => Promise<boolean>;

const COMMANDS: Readonly<Record<string, Run>> = {
  bank: async (args, print) => await certify((await import("./bank/suite.ts")).bankSuite, args, print),
  "key-set": printKeySet,
  tpp: async (args, print) => await certify((await import("./tpp/suite.ts")).TPP_SUITE, args, print),
};

const USAGE = `deno task certify <command> [options]; --help behind a command lists its options and cases

  bank      certifies a bank: its pages by a hook, its back channel, its orders
  tpp       certifies a TPP: a program, or a web shop
  key-set   prints the certifier's public JWK set, for DIRECTORY_CERTIFIERS of a directory [--keys FILE]
            [--issuer URL]`;

async function printKeySet(args: readonly string[], print: (line: string) => void): Promise<boolean> {
  const options = readOptions(args, { options: [], cases: [] });
  if (options === undefined) {
    print(USAGE);
    return true;
  }
  const keys = await openCertifierKeys(options.keys, Date.now);
  print(certifierKeySet(keys, options.issuer));
  return true;
}

await runProgram(undefined, async ([name, ...args], print) => {
  if (name === "--help" || name === "-h") return print(USAGE);
  if (name === undefined) throw new UsageError(USAGE);
  const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (run === undefined) throw unknownCommand(name, Object.keys(COMMANDS));
  return await run(args, print);
});

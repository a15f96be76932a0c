/**
 * `deno task platform-keys`: creates, rotates and retires the platform's keys in the file named by `PLATFORM_KEYS`.
 * Starts and signals no process. Every failure is reported in one sentence.
 */
import { runProgram } from "../../command_line/run.ts";
import { lockSecretFile } from "../../command_line/secret_file.ts";
import { readArguments, USAGE } from "./arguments.ts";
import { certify, make, request, retire, rotate, show, type Tools } from "./commands.ts";
import { IN_FILE } from "./making.ts";

/**
 * Runs one command line.
 *
 * @throws {UsageError} and {KeysFailure} in one sentence where it did not do what it was asked
 */
export async function platformKeys(args: readonly string[], tools: Tools): Promise<void> {
  const command = readArguments(args);
  if (command.verb === "show") return await show(command, tools);
  if (command.verb === "request") return await request(command, tools);
  using _lock = await lockSecretFile(command.file, command.verb === "make"); // two changes at once would lose one
  switch (command.verb) {
    case "make":
      return await make(command, tools);
    case "rotate":
      return await rotate(command, tools);
    case "retire":
      return await retire(command, tools);
    case "certify":
      return await certify(command, tools);
  }
}

if (import.meta.main) {
  await runProgram(USAGE, (args, print) => platformKeys(args, { print, now: Date.now(), custody: IN_FILE }));
}

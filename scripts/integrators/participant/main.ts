/**
 * `deno task participant`: the administrators' client of the participants directory. Makes a participant's keys on
 * this computer, asks the directory over HTTP, keeps what comes back. Every failure is one sentence.
 */
import { runProgram } from "../../command_line/run.ts";
import { type Command, readArguments, USAGE } from "./arguments.ts";
import {
  addKeys,
  onboard,
  recordCertification,
  renewStatement,
  revokeKey,
  setStatus,
  show,
  type Tools,
} from "./commands.ts";
import { sandboxFolder } from "../../command_line/sandbox_folder.ts";
import { type Environment, openDirectoryClient } from "./directory.ts";
import { ParticipantFailure } from "./folder.ts";

/** Dependencies of the command. */
export interface CommandEnvironment {
  readonly env: Environment;
  readonly print: (line: string) => void;
  /** Standard input, whole. */
  readonly readInput: () => Promise<string>;
}

/**
 * Runs one command line.
 *
 * @throws {UsageError} and {ParticipantFailure} in one sentence where it did not do what it was asked
 */
export async function participant(args: readonly string[], environment: CommandEnvironment): Promise<void> {
  const { command, common } = readArguments(args);
  if (command.verb === "example") {
    return environment.print(JSON.stringify(exampleDetails(command.role), undefined, 2));
  }
  const out = common.out ?? `${sandboxFolder(environment.env)}/participants`;
  await run(command, environment, {
    directory: await openDirectoryClient(common, environment.env),
    folderOf: (name) => `${out}/${name}`,
    print: environment.print,
  });
}

type WorkingCommand = Exclude<Command, { readonly verb: "example" }>;

async function run(command: WorkingCommand, environment: CommandEnvironment, tools: Tools): Promise<void> {
  switch (command.verb) {
    case "onboard":
      return await onboard(tools, { ...command, details: await readJson(command.details, environment) });
    case "renew-statement": {
      const { name, changes } = command;
      return await renewStatement(tools, { name, changes: changes && await readJson(changes, environment) });
    }
    case "add-keys":
      return await addKeys(tools, command);
    case "revoke-key":
      return await revokeKey(tools, command);
    case "set-status":
      return await setStatus(tools, command);
    case "record-certification": {
      const report = (await readText(command.report, environment)).trim();
      return await recordCertification(tools, { who: command.who, report });
    }
    case "show":
      return await show(tools, command);
  }
}

async function readText(file: string, { readInput }: CommandEnvironment): Promise<string> {
  return await (file === "-" ? readInput() : Deno.readTextFile(file)).catch(() => {
    throw new ParticipantFailure(`The file ${file} cannot be read.`);
  });
}

async function readJson(file: string, environment: CommandEnvironment): Promise<unknown> {
  const text = await readText(file, environment);
  try {
    return JSON.parse(text);
  } catch {
    throw new ParticipantFailure(`The file ${file} is not JSON.`);
  }
}

/** The details file of `deno task participant onboard`, to fill in (Decision E1 without the signing requests). */

/** An example for the role; its addresses work in a sandbox. */
export function exampleDetails(role: "PISP" | "ASPSP"): Record<string, unknown> {
  const contact = { name: "Full Name", email: "name@company.example", phone: "+57 601 555 0100" };
  const bank = role === "ASPSP";
  const home = `http://localhost:${bank ? 9001 : 9000}`; // both at once on one computer
  return {
    ...(bank ? { org_id: "BANKC" } : {}),
    org_name: bank ? "Bank C" : "Company Limited",
    registration_number: "900123456-7",
    role,
    contacts: [{ type: "business", ...contact }, { type: "technical", ...contact }],
    software: {
      client_name: bank ? "Bank C online" : "Company checkout",
      description: bank ? "Customers of Bank C confirm payments" : "Takes payments from bank accounts",
      version: "1.0",
      client_uri: `${home}/`,
      logo_uri: `${home}/logo.svg`,
      redirect_uris: [bank ? `${home}/BANKC/sca` : `${home}/callback`],
      environment: "Sandbox",
    },
    ...(bank ? { consent_managedby_bank: true, payment_orders_uri: `${home}/BANKC/payment-orders` } : {}),
  };
}

if (import.meta.main) {
  await runProgram(USAGE, (args, print) =>
    participant(args, {
      env: Deno.env.toObject(),
      print,
      readInput: () => new Response(Deno.stdin.readable).text(),
    }));
}

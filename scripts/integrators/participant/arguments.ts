/** The command line of `deno task participant` -> one command. Unknown words and missing ones are rejected before anything happens. */
import { oneOf, required, splitCommand, type Values } from "../../command_line/option_values.ts";
import { parsedOptions, UsageError } from "../../command_line/run.ts";

/** The purposes that a participant has keys for (Decision E1). */
export const KEY_NAMES = ["signing", "transport", "encryption"] as const;
/** One of {@link KEY_NAMES}. */
export type KeyName = typeof KEY_NAMES[number];

/** Whose participant: by the folder on this computer, by its id in the directory, or both. */
export interface Who {
  readonly name?: string;
  readonly orgId?: string;
}

export type Command =
  | { readonly verb: "example"; readonly role: "PISP" | "ASPSP" }
  | {
    readonly verb: "onboard";
    readonly name: string;
    readonly details: string;
    readonly encryption: boolean;
  }
  | { readonly verb: "renew-statement"; readonly name: string; readonly changes?: string }
  | {
    readonly verb: "add-keys";
    readonly name: string;
    readonly orgId?: string;
    readonly keys: readonly KeyName[];
  }
  | { readonly verb: "revoke-key"; readonly who: Who; readonly kid: string; readonly reason: string }
  | {
    readonly verb: "set-status";
    readonly who: Who;
    readonly of: "software" | "organisation";
    readonly status: string;
    readonly reason: string;
  }
  | { readonly verb: "record-certification"; readonly who: Who; readonly report: string }
  | { readonly verb: "show"; readonly who: Who; readonly history: boolean };

/** Where and as whom. Unset members come from the environment (`directory.ts`). */
export interface CommonOptions {
  readonly directoryUrl?: string;
  readonly adminToken?: string;
  /** The folder that holds the participants' folders. */
  readonly out?: string;
}

/** The text of `--help`. */
export const USAGE = `deno task participant <command> [options]

  onboard          --name <folder> --details <file.json> [--encryption]
                   Makes keys here, has them certified, and writes <folder>. --details: company, contacts and
                   software as JSON ("-": standard input); "onboard --example PISP" (or ASPSP) prints one to fill in.
  renew-statement  --name <folder> [--changes <file.json>]
                   A newer software statement, with changed software members where a file gives some.
  add-keys         --name <folder> [--signing] [--transport] [--encryption] [--org-id <id>]
                   New keys beside the old ones: those named, or all that the folder has. With --org-id the
                   folder may be missing, lost or never written by an onboarding that was cut short: it is made
                   again with new keys and a new statement.
  revoke-key       --name <folder> | --org-id <id>   --kid <kid> --reason <text>
  set-status       --name <folder> | --org-id <id>   --reason <text>
                   --software Active|Inactive|Revoked, or --organisation Active|Suspended|Withdrawn
  record-certification --name <folder> | --org-id <id>   --report <file.jwt>
                   Records a certification report that a certifier has signed.
  show             --name <folder> | --org-id <id>   [--history]

Options of all commands:
  --directory-url <url>   DIRECTORY_URL (the administrators' address), or directory_url of endpoints.json in SANDBOX_DIR (default .data/sandbox)
  --admin-token <token>   DIRECTORY_ADMIN_TOKEN (better: not seen by others), or directory_admin_token of endpoints.json
  --out <folder>          where participants' folders are; default participants/ in SANDBOX_DIR
`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const COMMON = { "directory-url": text, "admin-token": text, out: text };
const OPTIONS = {
  onboard: { name: text, details: text, encryption: flag, example: text },
  "renew-statement": { name: text, changes: text },
  "add-keys": { name: text, "org-id": text, signing: flag, transport: flag, encryption: flag },
  "revoke-key": { name: text, "org-id": text, kid: text, reason: text },
  "set-status": { name: text, "org-id": text, software: text, organisation: text, reason: text },
  "record-certification": { name: text, "org-id": text, report: text },
  show: { name: text, "org-id": text, history: flag },
} as const;
type Verb = keyof typeof OPTIONS;

/**
 * Reads the command line.
 *
 * @throws {UsageError} naming the word that is wrong or missing
 */
export function readArguments(
  args: readonly string[],
): { readonly command: Command; readonly common: CommonOptions } {
  const { verb, rest } = splitCommand(args, OPTIONS, USAGE);
  const options: Record<string, { type: "string" | "boolean" }> = { ...OPTIONS[verb], ...COMMON };
  const values = parsedOptions(rest, options);
  const common = {
    ...optional(values, "directory-url", "directoryUrl"),
    ...optional(values, "admin-token", "adminToken"),
    ...optional(values, "out", "out"),
  };
  return { command: commandOf(verb, values), common };
}

function commandOf(verb: Verb, values: Values): Command {
  switch (verb) {
    case "onboard":
      return onboarding(values);
    case "renew-statement":
      return { verb, name: folderName(required(values, "name")), ...optional(values, "changes", "changes") };
    case "add-keys": {
      const keys = KEY_NAMES.filter((name) => values[name] === true);
      return {
        verb,
        name: folderName(required(values, "name")),
        keys,
        ...optional(values, "org-id", "orgId"),
      };
    }
    case "revoke-key":
      return { verb, who: whose(values), kid: required(values, "kid"), reason: required(values, "reason") };
    case "set-status":
      return statusChange(values);
    case "record-certification":
      return { verb, who: whose(values), report: required(values, "report") };
    case "show":
      return { verb, who: whose(values), history: values["history"] === true };
  }
}

function onboarding(values: Values): Command {
  const { example } = values;
  if (example !== undefined) return { verb: "example", role: oneOf("example", example, ["PISP", "ASPSP"]) };
  const [name, details] = [folderName(required(values, "name")), required(values, "details")];
  return { verb: "onboard", name, details, encryption: values["encryption"] === true };
}

function statusChange(values: Values): Command {
  const { software, organisation } = values;
  const reason = required(values, "reason");
  const who = whose(values);
  if (typeof software === "string" && organisation === undefined) {
    return { verb: "set-status", who, of: "software", status: software, reason };
  }
  if (typeof organisation === "string" && software === undefined) {
    return { verb: "set-status", who, of: "organisation", status: organisation, reason };
  }
  throw new UsageError("set-status needs one of --software and --organisation.");
}

function whose(values: Values): Who {
  const who = { ...optional(values, "name", "name"), ...optional(values, "org-id", "orgId") };
  if (who.name === undefined && who.orgId === undefined) {
    throw new UsageError("--name or --org-id is missing.");
  }
  if (who.name !== undefined) folderName(who.name);
  return who;
}

// A name becomes a path and must not lead out of the participants' folder.
function folderName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  throw new UsageError("--name must be 1 to 64 letters, digits, - or _.");
}

function optional<Name extends string>(
  values: Values,
  option: string,
  name: Name,
): { readonly [K in Name]?: string } {
  const value = values[option];
  const found: { [K in Name]?: string } = {};
  if (typeof value === "string" && value !== "") found[name] = value;
  return found;
}

/** The command line of `deno task signer`. */
import { optionsOf, UsageError } from "../../command_line/run.ts";

/** A token and the file with its PIN. */
export interface TokenPlace {
  readonly label: string;
  readonly pinFile: string;
}

export interface SignerArguments {
  /** Path of the PKCS#11 library. */
  readonly module: string;
  readonly tokens: readonly [TokenPlace, ...TokenPlace[]];
  /** Set for `serve`: the socket and the key file. */
  readonly serve?: { readonly socket: string; readonly file: string };
  /** Whose keys they are. */
  readonly owner: "platform" | "directory";
  /** What remains: a command of `deno task platform-keys` or `directory-keys`. */
  readonly rest: readonly string[];
}

export const SIGNER_USAGE =
  `deno task signer <command> --module <library.so> --token <label>=<file with its PIN>,...

  serve     Answers the platform or directory: --socket <path> --file <platform-keys.json>
  wrapping-key <id>
            Makes a key in the first token that wraps data keys: the line "<id> token" of PLATFORM_WRAPPING_KEYS.
  authority --subject "O=…, CN=…"
            Makes the key of the directory's certificate authority in the first token. Prints its signing request.
  make, show, rotate, retire, request, certify
            As deno task platform-keys, but the private keys are made in the first token and cannot leave it.
            The file has the public ones, their times and certificates. --for directory: the keys of software
            statements, with the commands of deno task directory-keys.
`;

const OWN = ["--module", "--token", "--socket", "--for"] as const;

/** @throws {UsageError} */
export function readSignerArguments(args: readonly string[]): SignerArguments {
  if (args.length === 0) throw new UsageError(SIGNER_USAGE);
  const own = new Map<string, string>();
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [name = "", ...values] = (args[at] ?? "").split("=");
    if (!OWN.some((option) => option === name)) rest.push(args[at] ?? "");
    else own.set(name, values.length > 0 ? values.join("=") : args[++at] ?? "");
  }
  const required = (name: typeof OWN[number]): string => {
    const value = own.get(name);
    if (value === undefined || value === "") {
      throw new UsageError(`${name} is missing; --help lists the options.`);
    }
    return value;
  };
  const [first, ...others] = required("--token").split(",").map(tokenPlace);
  if (first === undefined) throw new UsageError("--token is missing.");
  const owner = own.get("--for") ?? "platform";
  if (owner !== "platform" && owner !== "directory") {
    throw new UsageError("--for must be platform or directory.");
  }
  const common = {
    owner: owner as SignerArguments["owner"],
    module: required("--module"),
    tokens: [first, ...others] as const,
    rest,
  };
  if (rest[0] !== "serve") return common;
  return { ...common, serve: { socket: required("--socket"), file: fileOf(rest.slice(1)) } };
}

function fileOf(args: readonly string[]): string {
  const { file } = optionsOf(args, ["file"]);
  if (file === undefined) throw new UsageError("--file is missing; --help lists the options.");
  return file;
}

function tokenPlace(text: string): TokenPlace {
  const [label = "", ...path] = text.split("=");
  const pinFile = path.join("=");
  if (label === "" || pinFile === "") throw new UsageError("--token must be <label>=<file with its PIN>.");
  return { label, pinFile };
}

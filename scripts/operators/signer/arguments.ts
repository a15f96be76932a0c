/** The command line of `deno task signer`. */
import { oneOf, required } from "../../command_line/option_values.ts";
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

const OWN = ["module", "token", "socket", "for"];

/** @throws {UsageError} */
export function readSignerArguments(args: readonly string[]): SignerArguments {
  if (args.length === 0) throw new UsageError(SIGNER_USAGE);
  const own: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [name = "", ...values] = (args[at] ?? "").split("=");
    if (!OWN.some((option) => `--${option}` === name)) rest.push(args[at] ?? "");
    else own[name.slice(2)] = values.length > 0 ? values.join("=") : args[++at] ?? "";
  }
  const [first, ...others] = required(own, "token").split(",").map(tokenPlace);
  if (first === undefined) throw new UsageError("--token is missing.");
  const common = {
    owner: oneOf("for", own["for"] ?? "platform", ["platform", "directory"]),
    module: required(own, "module"),
    tokens: [first, ...others] as const,
    rest,
  };
  if (rest[0] !== "serve") return common;
  return {
    ...common,
    serve: { socket: required(own, "socket"), file: required(optionsOf(rest.slice(1), ["file"]), "file") },
  };
}

function tokenPlace(text: string): TokenPlace {
  const [label = "", ...path] = text.split("=");
  const pinFile = path.join("=");
  if (label === "" || pinFile === "") throw new UsageError("--token must be <label>=<file with its PIN>.");
  return { label, pinFile };
}

/** The command line of `deno task platform-keys` -> one command. What is unknown, missing or out of bounds is rejected first. */
import {
  keyBits,
  oneOf,
  optionSeconds,
  required,
  splitCommand,
  type Values,
} from "../../command_line/option_values.ts";
import { parsedOptions, UsageError } from "../../command_line/run.ts";

/** An error with a one-sentence message for the operator. */
export class KeysFailure extends Error {
  override readonly name = "KeysFailure";
}

/** The use of a key (RFC 7517 §4.2). */
export type KeyUse = "sig" | "enc";

/** How new keys are made. */
export interface Making {
  /** Common name of the signing key's own certificate. */
  readonly name: string;
  readonly bits: number;
  /** How long the certificate is valid, days. */
  readonly days: number;
}

export type Command =
  | { readonly verb: "make"; readonly file: string; readonly making: Making }
  | {
    readonly verb: "rotate";
    readonly file: string;
    readonly uses: readonly KeyUse[];
    /** From being published to being used. */
    readonly leadSeconds: number;
    /** How much longer the key before it stays published. */
    readonly keepSeconds: number;
    readonly making: Making;
  }
  | { readonly verb: "retire"; readonly file: string; readonly kid?: string }
  | { readonly verb: "show"; readonly file: string }
  | { readonly verb: "request"; readonly file: string; readonly kid: string; readonly name: string }
  | {
    readonly verb: "certify";
    readonly file: string;
    readonly kid: string;
    readonly certificate: string;
    readonly beforeFirstStart: boolean;
  };

/** The text of `--help`. */
export const USAGE = `deno task platform-keys <command> --file <platform-keys.json>

  make      Makes the file: a signing key with a certificate of its own and a decryption key. Never overwrites.
            [--name <common name>] [--bits 2048|3072|4096] [--days 1095]
  show      Lists the keys: what each is for, whether it is in use, until when it is published.
  rotate    Adds the next keys. They are published at once, used after the lead, and the keys before them stay
            published for a while after that. [--use sig|enc] [--lead 24h] [--keep 7d] and the options of make
  retire    Takes out the keys whose time has passed; with --kid that key at once, for a key that is compromised.
  request   Prints a certificate signing request for a signing key: --kid <kid> [--name <common name>]
  certify   Gives a signing key the certificate that an authority made of the request, and so another kid:
            --kid <kid> --certificate <chain.pem>. The key must not be in use yet, or --before-first-start.

The platform reads the file again on SIGHUP. Times are like 90s, 15m, 24h, 7d.
`;

const making = { name: { type: "string" }, bits: { type: "string" }, days: { type: "string" } } as const;
const OPTIONS = {
  make: making,
  rotate: { ...making, use: { type: "string" }, lead: { type: "string" }, keep: { type: "string" } },
  retire: { kid: { type: "string" } },
  show: {},
  request: { kid: { type: "string" }, name: { type: "string" } },
  certify: {
    kid: { type: "string" },
    certificate: { type: "string" },
    "before-first-start": { type: "boolean" },
  },
} as const;

const DEFAULT_NAME = "Payment initiation platform, signing";

/** Reads the command line. @throws {UsageError} in one sentence */
export function readArguments(args: readonly string[]): Command {
  const { verb, rest } = splitCommand(args, OPTIONS, USAGE);
  const values = parsedOptions(rest, { ...OPTIONS[verb], file: { type: "string" } });
  const file = required(values, "file");
  switch (verb) {
    case "make":
      return { verb, file, making: readMaking(values) };
    case "rotate":
      return {
        verb,
        file,
        uses: values["use"] === undefined ? ["sig", "enc"] : [oneOf("use", values["use"], ["sig", "enc"])],
        leadSeconds: optionSeconds(values, "lead", "24h"),
        keepSeconds: optionSeconds(values, "keep", "7d"),
        making: readMaking(values),
      };
    case "retire":
      return { verb, file, ...(typeof values["kid"] === "string" ? { kid: values["kid"] } : {}) };
    case "show":
      return { verb, file };
    case "request":
      return { verb, file, kid: required(values, "kid"), name: readName(values) };
    case "certify":
      return {
        verb,
        file,
        kid: required(values, "kid"),
        certificate: required(values, "certificate"),
        beforeFirstStart: values["before-first-start"] === true,
      };
  }
}

function readMaking(values: Values): Making {
  const bits = keyBits(values["bits"]);
  const days = Number(values["days"] ?? 1095);
  if (!Number.isInteger(days) || days < 1 || days > 3650) throw new UsageError("--days must be 1 to 3650.");
  return { name: readName(values), bits, days };
}

// A common name is written into a certificate: words, no attribute of another kind.
function readName(values: Values): string {
  const name = values["name"] ?? DEFAULT_NAME;
  if (typeof name === "string" && /^[\p{L}\p{N} .,:/()_-]{1,64}$/u.test(name)) return name;
  throw new UsageError("--name must be 1 to 64 letters, digits, spaces or . , : / ( ) _ -.");
}

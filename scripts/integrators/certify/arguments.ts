/** The command line of `deno task certify`. Unknown words are rejected before anything is started. */
import { type Options, optionsOf, UsageError } from "../../command_line/run.ts";

/** The options of every suite. */
export interface CertifyOptions {
  /** Ids of the cases to run; undefined: all of them. */
  readonly only?: readonly string[];
  /** Folder for the report. */
  readonly out: string;
  /** Print only the report, as JSON. */
  readonly json: boolean;
  /** Private JWK set of the certifier. */
  readonly keys: string;
  /** The certifier's address. */
  readonly issuer: string;
  /** The suite's own options. */
  readonly own: Options<string, never>;
}

const DEFAULTS = {
  out: ".data/certification",
  keys: ".data/certifier-keys.json",
  issuer: "https://localhost/certifier",
};

/** The lines of `--help` about the options of every suite. */
export const COMMON_USAGE = `  --case ID[,ID]     only these cases; the report is then not signed
  --out DIR          folder for report.html, report.json and report.jwt; default ${DEFAULTS.out}
  --json             print the report as JSON, and nothing else
  --keys FILE        the certifier's private JWK set (deno task directory-keys); made if it does not exist;
                     default ${DEFAULTS.keys}
  --issuer URL       the certifier's address in the signed report; default ${DEFAULTS.issuer}`;

/**
 * Reads the options behind the name of the suite.
 *
 * @returns undefined if help is wanted
 * @throws {UsageError} naming the option that is wrong
 */
export function readOptions(
  args: readonly string[],
  suite: { readonly options: readonly string[]; readonly cases: readonly { readonly id: string }[] },
): CertifyOptions | undefined {
  const names = ["case", "out", "keys", "issuer", ...suite.options];
  const { json = false, help, ...values } = optionsOf(args, names, ["json", "help"]) as
    & { readonly json?: boolean; readonly help?: boolean }
    & Options<string, never>;
  if (help) return undefined;
  const { case: ids, out = DEFAULTS.out, keys = DEFAULTS.keys, issuer = DEFAULTS.issuer, ...own } = values;
  if (!URL.canParse(issuer)) throw new UsageError("--issuer must be a URL.");
  return { out, json, keys, issuer, own, ...(ids === undefined ? {} : { only: knownIds(ids, suite.cases) }) };
}

function knownIds(text: string, cases: readonly { readonly id: string }[]): readonly string[] {
  const ids = text.split(",");
  const unknown = ids.find((id) => !cases.some((each) => each.id === id));
  if (unknown !== undefined) throw new UsageError(`There is no case ${unknown}; --help lists them.`);
  return ids;
}

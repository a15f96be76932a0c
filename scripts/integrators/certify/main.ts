/**
 * `deno task certify`: certifies a bank or a TPP against an ecosystem of its own, and writes the report as a page, as
 * JSON and as a signed JWT. Exit status 0 only if every case passed.
 */
import { type Options, optionsOf, runProgram, unknownCommand, UsageError } from "../../command_line/run.ts";
import { certifierKeySet, openCertifierKeys, type Report, reportOf, signReport } from "./report.ts";
import { openProgress } from "../../command_line/progress.ts";
import { type CaseResult, runCases, type Suite } from "./case.ts";
import { reportPage } from "./report_page.ts";

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

/**
 * Runs a suite as its command line says.
 *
 * @param args the words behind the name of the suite
 * @returns whether every case passed
 */
export async function certify<Bench>(
  suite: Suite<Bench>,
  args: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  const options = readOptions(args, suite);
  if (options === undefined) {
    print(usageOf(suite));
    return true;
  }
  const { only, out, json, issuer } = options;
  const tell = json ? (): void => {} : print;
  const keys = await openCertifierKeys(options.keys, Date.now);
  const report = await examine(suite, only, options.own, tell);
  const signed = report.complete ? await signReport(report, { issuer, signer: keys.signer }) : undefined;
  await writeReport(out, report, signed);
  if (json) print(JSON.stringify(report, undefined, 2));
  const good = report.cases.filter(({ passed }) => passed).length;
  tell(`${good} of ${report.cases.length} cases passed. The report is in ${out}.`);
  return report.passed;
}

async function examine<Bench>(
  suite: Suite<Bench>,
  only: readonly string[] | undefined,
  own: Parameters<Suite<Bench>["open"]>[0],
  tell: (line: string) => void,
): Promise<Report> {
  const startedAt = Date.now();
  const { bench, subject, close } = await suite.open(own, tell);
  try {
    const cases = suite.cases.filter(({ id }) => only === undefined || only.includes(id));
    using progress = openProgress("cases", cases.length);
    let done = 0;
    const results = await runCases(cases, bench, (result) => {
      progress.above(() => tell(lineOf(result)));
      progress.done(++done);
    });
    return reportOf({ subject, suite }, results, { startedAt, endedAt: Date.now() });
  } finally {
    await close();
  }
}

function lineOf({ id, passed, title, seen }: CaseResult): string {
  return `${passed ? "passed" : "FAILED"}  ${id.padEnd(9)} ${title}${passed ? "" : `\n        ${seen}`}`;
}

/** A report of former cases must not stay beside a newer one, so a signed report that is not made is removed. */
async function writeReport(folder: string, report: Report, signed: string | undefined): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/report.html`, await reportPage(report));
  await Deno.writeTextFile(`${folder}/report.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  const token = `${folder}/report.jwt`;
  if (signed !== undefined) return await Deno.writeTextFile(token, `${signed}\n`);
  await Deno.remove(token).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

function usageOf<Bench>({ name, usage, cases }: Suite<Bench>): string {
  const list = cases.map(({ id, title }) => `  ${id.padEnd(9)} ${title}`);
  return `deno task certify ${name} [options]\n\n${usage}\n${COMMON_USAGE}\n\nCases:\n${list.join("\n")}`;
}

/** The options of every suite. */
interface CertifyOptions {
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
const COMMON_USAGE = `  --case ID[,ID]     only these cases; the report is then not signed
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

if (import.meta.main) {
  await runProgram(undefined, async ([name, ...args], print) => {
    if (name === "--help" || name === "-h") return print(USAGE);
    if (name === undefined) throw new UsageError(USAGE);
    const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (run === undefined) throw unknownCommand(name, Object.keys(COMMANDS));
    return await run(args, print);
  });
}

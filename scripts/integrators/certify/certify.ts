/** One certification: opens the bench, runs the cases, and writes the report. */
import { openCertifierKeys } from "./certifier.ts";
import { openProgress } from "../../command_line/progress.ts";
import { COMMON_USAGE, readOptions } from "./arguments.ts";
import type { Suite } from "./case.ts";
import { type Report, reportOf, signReport } from "./report.ts";
import { reportPage } from "./report_page.ts";
import { type CaseResult, runCases } from "./run.ts";

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

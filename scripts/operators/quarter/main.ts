/** `deno task quarter-check`: compares the report of a quarter with exported spans and histories. */
import { optionsOf, runProgram, UsageError } from "../../command_line/run.ts";
import { differences, recompute } from "./recompute.ts";

const USAGE = `deno task quarter-check --report FILE --spans FILE --histories FILE

  --report     the output of deno task ops quarter QUARTER --csv
  --spans      what the collector of spans has received: a JSON body of OTLP on each line
  --histories  the output of deno task ops audit --json, a page on each line

Recomputes every figure by bank and day, and prints each difference. Exit status: 0 no difference, 1 differences or a failure, 2 wrong command line.`;

const NAMES = ["report", "spans", "histories"] as const;

async function check(args: readonly string[], print: (line: string) => void): Promise<void> {
  const { report, spans, histories } = optionsOf(args, NAMES);
  if (!report || !spans || !histories) throw new UsageError("--report, --spans and --histories are needed.");
  const [csv, exported, pages] = await Promise.all(
    [report, spans, histories].map((file) => Deno.readTextFile(file)),
  );
  const found = differences(csv ?? "", recompute(parseLines(exported), parseLines(pages)));
  if (found.length > 0) throw new Error(found.join("\n"));
  print("The report is equal to what the spans and the histories say.");
}

function parseLines(text = ""): readonly unknown[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as unknown);
}

if (import.meta.main) await runProgram(USAGE, check);

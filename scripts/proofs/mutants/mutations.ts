/** The generated faults of a folder's source files, and the list of those that no test can notice. */
import { lineAt, listFiles, readSource, ROOT, splitLines } from "../../upkeep/sources/source_files.ts";
import type { Change } from "./mutation_plugin.ts";
import type { Fault } from "./tree.ts";

/** A generated fault, and its words for a reader. */
export interface Mutation extends Fault {
  readonly line: number;
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly change: Change;
}

const CONFIG = `${ROOT}scripts/proofs/mutants/mutation_lint.json`;
const SHOWN = 160;

/** Every fault of the programs below a folder, in the order of the files. @throws {Error} if one does not parse */
export async function mutationsOf(folder: string): Promise<readonly Mutation[]> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["lint", "--json", "--config", CONFIG, folder],
    cwd: ROOT,
  }).output();
  const report = JSON.parse(new TextDecoder().decode(stdout) || "null") as LintReport | null;
  if (report === null || report.errors.length > 0) throw new Error(new TextDecoder().decode(stderr));
  const changes = Map.groupBy(report.diagnostics, ({ filename }) => filename.replace(`file://${ROOT}`, ""));
  return programsBelow(folder).flatMap((file) => {
    const { text } = readSource(file);
    return (changes.get(file) ?? []).map(({ message }) =>
      mutationOf(file, text, JSON.parse(message) as Change)
    );
  });
}

interface LintReport {
  readonly diagnostics: readonly { readonly filename: string; readonly message: string }[];
  readonly errors: readonly unknown[];
}

/** The programs below a folder of `src`. */
export function programsBelow(folder: string): readonly string[] {
  return listFiles(folder, [".ts", ".tsx"]).filter((path) => !path.endsWith(".d.ts"));
}

/** The fault of one change. */
export function mutationOf(file: string, text: string, change: Change): Mutation {
  const { kind, at: [from, to], to: words } = change;
  const short = (piece: string): string => piece.replaceAll(/\s+/g, " ").slice(0, SHOWN);
  return {
    file,
    line: lineAt(text, from),
    kind,
    from: short(splitLines(text)[lineAt(text, from) - 1] ?? ""),
    to: short(words),
    change,
    plant: (source) => source.slice(0, from) + words + source.slice(to),
  };
}

/** The list, beside this file: a fault in the words of {@link faultOf}, then its reason, indented. */
export const ACCEPTED_FILE = "scripts/proofs/mutants/accepted_survivors.txt";

/** The accepted faults with their reasons. @throws {Error} if an entry has no reason, or stands there twice */
export function acceptedIn(text: string): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  let fault: string | undefined;
  for (const line of text.split("\n").filter((words) => words.trim() !== "" && !words.startsWith("#"))) {
    if (line.startsWith("  ")) {
      if (fault === undefined) throw new Error(`${ACCEPTED_FILE}: this reason has no fault: ${line.trim()}`);
      accepted.set(fault, `${accepted.get(fault) ?? ""} ${line.trim()}`.trim());
      continue;
    }
    if (accepted.has(line)) throw new Error(`${ACCEPTED_FILE}: this fault stands there twice: ${line}`);
    accepted.set(fault = line, "");
  }
  const bare = [...accepted].find(([, reason]) => reason === "");
  if (bare !== undefined) throw new Error(`${ACCEPTED_FILE}: this fault has no reason: ${bare[0]}`);
  return accepted;
}

/** A fault without its line number, which changes with the lines above it. */
export function faultOf({ file, kind, from, to }: Pick<Mutation, "file" | "kind" | "from" | "to">): string {
  return `${file} ${kind}: ${from.trim()} => ${to.trim()}`.trimEnd();
}

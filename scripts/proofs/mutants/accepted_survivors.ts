/** Generated faults that no test can notice, because the program does the same with them. No I/O. */
import type { Mutation } from "./mutations.ts";

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

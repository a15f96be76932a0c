/** `deno task lines`: code lines, without blank lines and comments, of each part and of its folders. */
import { runPlain } from "../../command_line/run.ts";
import { listFiles, readSource, splitLines } from "../sources/source_files.ts";

const TARGETS: Readonly<Record<string, number>> = { src: 50_000, scripts: 21_000, tests: 68_000 };
const ENDINGS = [".ts", ".tsx", ".mjs"];

function codeLines(path: string): number {
  return splitLines(readSource(path).text).filter((line) => /\S/.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
    .length;
}

const USAGE = `deno task lines

  Prints the code lines, without blank lines and comments, of src, scripts and tests, and of their folders.`;

await runPlain(USAGE, (print) => {
  for (const [part, target] of Object.entries(TARGETS)) {
    const folders = new Map<string, number>();
    for (const path of listFiles(part, ENDINGS)) {
      const folder = path.split("/").slice(0, -1).slice(0, 3).join("/");
      folders.set(folder, (folders.get(folder) ?? 0) + codeLines(path));
    }
    const sum = [...folders.values()].reduce((total, lines) => total + lines, 0);
    print(`${sum} ${part} (target ${target})`);
    for (const [folder, lines] of [...folders].sort(([, a], [, b]) => b - a)) {
      print(`  ${lines} ${folder}`);
    }
  }
  return Promise.resolve();
});

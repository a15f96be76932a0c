/** Which tests are near a source file. No I/O. */
import { basename, dirname, join } from "node:path/posix";
import type { SourceFile } from "../../upkeep/sources/source_files.ts";

/** Of a test outside the mirrored folder. */
const MAX_IMPORTS = 2;
/** They start whole programs and browsers, and are near only if they have the file's name or import it. */
const SLOW = /^tests\/(?:platform\/process|journeys|browser|scripts|docs|attacks|sandbox)\//;
const IMPORT = /(?:from|import) "(\.{1,2}\/[^"]+|(?:support|testing)\/[^"]+)"/g;

/**
 * Returns a function that names the tests to run for a source file, the nearest first: those of its name, then those
 * of the mirrored folder and those that reach it over the fewest imports.
 *
 * @param files the programs of `src` and `tests`
 * @param max how many tests; all of the mirrored folder are named
 */
export function nearTests(files: readonly SourceFile[], max: number): (file: string) => readonly string[] {
  const importers = importersIn(files);
  const tests = files.map(({ path }) => path).filter((path) => /\.test\.tsx?$/.test(path));
  return (file) => {
    const distance = distancesTo(file, importers);
    const rank = (test: string): number => rankOf(test, file, distance.get(test) ?? Infinity);
    return tests.map((path) => ({ path, rank: rank(path) })).filter((test) => Number.isFinite(test.rank))
      .sort((one, other) => one.rank - other.rank).map(({ path }) => path)
      .filter((path, at) => at < max || dirname(path) === mirrorOf(file));
  };
}

function rankOf(test: string, file: string, far: number): number {
  const mirror = mirrorOf(file);
  if (basename(test).startsWith(basename(file).replace(/\.tsx?$/, ""))) return far;
  if (!Number.isFinite(far)) return far;
  const isBelow = dirname(test).startsWith(dirname(mirror));
  if (!isBelow && far > MAX_IMPORTS && SLOW.test(test)) return Infinity;
  if (dirname(test) === mirror) return 100 * Math.min(far, MAX_IMPORTS);
  return 100 * far + (isBelow ? 1 : far > MAX_IMPORTS ? 1000 : 2);
}

function mirrorOf(file: string): string {
  return dirname(file).replace(/^src\//, "tests/");
}

/** The programs that import each program. */
function importersIn(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const imported = target.startsWith(".")
        ? join(dirname(path), target)
        : `${target.startsWith("testing/") ? "scripts" : "tests"}/${target}`;
      importers.set(imported, [...importers.get(imported) ?? [], path]);
    }
  }
  return importers;
}

/** How many imports lie between each program and a file. */
function distancesTo(
  file: string,
  importers: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> {
  const distance = new Map([[file, 0]]);
  for (const [path, far] of distance) {
    for (const importer of importers.get(path) ?? []) {
      if (!distance.has(importer)) distance.set(importer, far + 1);
    }
  }
  return distance;
}

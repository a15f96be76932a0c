/** Which tests are near a source file. No I/O. */
import { dirname, join } from "node:path/posix";
import type { SourceFile } from "../../upkeep/sources/source_files.ts";

/** More would cost minutes for each fault that survives. */
const MAX_TESTS = 6;
/** Of a test outside the mirrored folder: tests farther away start whole programs and browsers. */
const MAX_IMPORTS = 2;
const IMPORT = /(?:from|import) "(\.{1,2}\/[^"]+|support\/[^"]+)"/g;

/**
 * The tests to run for a source file, the nearest first: those that import it, those of the mirrored folder, those
 * below the mirror of its parent, others; among these, those that reach it over the fewest imports.
 *
 * @param files the programs of `src` and `tests`
 */
export function nearTests(file: string, files: readonly SourceFile[]): readonly string[] {
  const distance = distancesTo(file, files);
  const mirror = dirname(file).replace(/^src\//, "tests/");
  const rank = (test: string): number => {
    const far = distance.get(test) ?? Infinity;
    const place = dirname(test);
    if (far === 1 || test.startsWith(file.replace(/^src\//, "tests/").replace(/\.tsx?$/, "."))) return far;
    if (place === mirror) return 100 + far;
    if (place.startsWith(dirname(mirror))) return 200 + far;
    return far <= MAX_IMPORTS ? 300 + far : Infinity;
  };
  return files.map(({ path }) => ({ path, rank: rank(path) }))
    .filter((test) => /\.test\.tsx?$/.test(test.path) && Number.isFinite(test.rank))
    .sort((one, other) => one.rank - other.rank).slice(0, MAX_TESTS).map(({ path }) => path);
}

/** How many imports lie between each program and a file. */
function distancesTo(file: string, files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const imported = target.startsWith(".") ? join(dirname(path), target) : `tests/${target}`;
      importers.set(imported, [...importers.get(imported) ?? [], path]);
    }
  }
  const distance = new Map([[file, 0]]);
  for (const [path, far] of distance) {
    for (const importer of importers.get(path) ?? []) {
      if (!distance.has(importer)) distance.set(importer, far + 1);
    }
  }
  return distance;
}

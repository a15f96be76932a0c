/**
 * Writes one module for several test files of a folder (`.data/tests`, ignored by git), so that `deno test` loads and
 * compiles the platform once for all of them: that costs more than a second a module. Run:
 * `deno run --allow-read=.data,tests --allow-write=.data`.
 */

const ROOT = new URL("../../", import.meta.url);
const GROUPS = new URL(".data/tests/", ROOT);
const SUFFIX = ".test.ts";
const FILES_A_GROUP = 8;
/** They start processes or browsers, or replace what is global. Each is a module of its own, and they begin first. */
const ALONE = /^(?:journeys|browser|scripts)\/|^attacks\/(?:fuzz|proxy)/;
/** They give addresses to the loopback interface, which ends requests of a Chromium beside them: after the browsers. */
const CHANGES_NETWORK = /^attacks\/proxy_(?:haproxy|nginx)/;
/** They wait for processes, so that others work beside them: next, lest the last of them is waited for alone. */
const WAITING = /^platform\/process\/serve\/|^base\/store\/postgres\//;

/** Groups of paths below `tests/`, by the name of their module. */
export function groupsOf(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  const sizes = new Map<string, number>();
  for (const path of paths.toSorted()) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    const position = sizes.get(folder) ?? 0;
    sizes.set(folder, position + 1);
    const name = ALONE.test(path)
      ? `${CHANGES_NETWORK.test(path) ? 3 : 1} ${path.slice(0, -SUFFIX.length)}`
      : `${WAITING.test(path) ? 2 : 3} ${folder} ${Math.floor(position / FILES_A_GROUP) + 1}`;
    groups.set(name, [...groups.get(name) ?? [], path]);
  }
  return groups;
}

async function testFiles(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(`tests/${folder}`, ROOT))) {
    if (isDirectory) found.push(...await testFiles(`${folder}${name}/`));
    else if (name.endsWith(SUFFIX)) found.push(`${folder}${name}`);
  }
  return found;
}

async function writeGroups(): Promise<void> {
  await Deno.remove(GROUPS, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(GROUPS, { recursive: true });
  for (const [name, paths] of groupsOf(await testFiles(""))) {
    const text = paths.map((path) => `import "../../tests/${path}";\n`).join("");
    await Deno.writeTextFile(new URL(`${name.replaceAll(/[ /]/g, "_")}${SUFFIX}`, GROUPS), text);
  }
}

if (import.meta.main) await writeGroups();

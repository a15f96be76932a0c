/** A Deno configuration that is the project's, except that `split_commits.ts` stands in the store's place. */

const ROOT = new URL("../../", import.meta.url);

/** Writes it into a folder; gives its path. */
export async function writeSplitCommitsConfig(folder: string): Promise<string> {
  const { imports, compilerOptions, unstable, nodeModulesDir } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  const whole = new URL("src/base/store/deno_kv.ts", ROOT).href;
  const split = new URL("tests/support/split_commits.ts", ROOT).href;
  const config = {
    nodeModulesDir,
    unstable,
    compilerOptions,
    imports: { ...imports, [whole]: split },
    scopes: { [split]: { [whole]: whole } },
    lock: false,
  };
  const path = `${folder}/deno.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

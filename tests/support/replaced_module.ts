/** A Deno configuration that is the project's, except that one module stands in the place of another. */

const ROOT = new URL("../../", import.meta.url);

/**
 * Writes the configuration into a folder, with a copy of the lock file: the same versions, without a network.
 *
 * @param replaced the module whose importers get the other one; the other one itself still gets it
 * @returns the path of the configuration
 */
export async function writeReplacing(folder: string, replaced: URL, replacement: URL): Promise<string> {
  const { imports, compilerOptions, unstable, nodeModulesDir } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  const config = {
    nodeModulesDir,
    unstable,
    compilerOptions,
    imports: { ...imports, [replaced.href]: replacement.href },
    scopes: { [replacement.href]: { [replaced.href]: replaced.href } },
  };
  const path = `${folder}/deno.json`;
  await Deno.copyFile(new URL("deno.lock", ROOT), `${folder}/deno.lock`);
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

/** A Deno configuration that is the project's, except that one module stands in the place of another. */

const ROOT = new URL("../../", import.meta.url);

interface ProjectConfig {
  readonly imports: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  readonly unstable: readonly string[];
  readonly nodeModulesDir: string;
}

/**
 * Writes the configuration into a folder, with a copy of the lock file: the same versions, without a network.
 *
 * @param replaced the module whose importers get the other one; the other one itself still gets it
 * @returns the path of the configuration
 */
export async function writeReplacing(folder: string, replaced: URL, replacement: URL): Promise<string> {
  const project = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT))) as ProjectConfig;
  const { types: _, ...compilerOptions } = project.compilerOptions; // a path that is relative to the project
  const config = {
    nodeModulesDir: project.nodeModulesDir,
    unstable: project.unstable,
    compilerOptions,
    imports: { ...project.imports, [replaced.href]: replacement.href },
    scopes: { [replacement.href]: { [replaced.href]: replaced.href } },
  };
  const path = `${folder}/deno.json`;
  await Deno.copyFile(new URL("deno.lock", ROOT), `${folder}/deno.lock`);
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

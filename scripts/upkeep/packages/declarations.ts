/** The type declarations of a package: one `.d.ts` for each source file that an entry's types reach. */
import ts from "typescript";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  isolatedDeclarations: true, // what JSR asks for: the types are written, not inferred
  strict: true,
  exactOptionalPropertyTypes: true,
};

/**
 * Returns the text of each declaration file, by its path below `source`.
 *
 * @param source the folder of the package's sources
 * @param entries paths below it
 * @param contained libraries whose declarations the package contains
 * @param external libraries that the package depends on
 * @throws {Error} if a type must be inferred, or comes from a library that is neither
 */
export async function declarationsOf(
  source: string,
  entries: readonly string[],
  contained: readonly string[],
  external: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    const text = declarationOf(path, await Deno.readTextFile(`${source}/${path}`));
    const reach = (specifier: string): string => {
      if (specifier.startsWith(".")) {
        const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
        open.push(target);
        return specifier.replace(/\.ts$/, ".js");
      }
      if (contained.includes(specifier)) {
        return `${"../".repeat(path.split("/").length - 1) || "./"}${specifier}.js`;
      }
      if (external.includes(specifier)) return specifier;
      throw new Error(`The types of ${path} name ${specifier}, which the package does not have.`);
    };
    // Not in a comment, whose lines begin with an asterisk.
    found.set(
      path,
      text.replace(
        /^((?:import|export|\}).* from |import )"([^"]+)"/gm,
        (_, by, to) => `${by}"${reach(to)}"`,
      ),
    );
  }
  return new Map([...found].map(([path, text]) => [path.replace(/\.ts$/, ".d.ts"), text]));
}

function declarationOf(fileName: string, text: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, {
    compilerOptions: OPTIONS,
    fileName,
    reportDiagnostics: true,
  });
  const [first] = diagnostics;
  if (first === undefined) return outputText;
  throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, "\n")}`);
}

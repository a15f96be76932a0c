/**
 * Builds the packages for npm in `.data/packages`: the client library and the command line. Two builds of the same
 * sources are equal byte for byte.
 */
import { runPlain } from "../../command_line/run.ts";
import { ROOT } from "../sources/source_files.ts";
import { buildCliPackage } from "./cli_package.ts";
import { buildClientPackage } from "./client_package.ts";

const USAGE = `deno task packages

  Builds the client library and the command line for npm in .data/packages, and prints the SHA-256 of each.`;

await runPlain(USAGE, async (print) => {
  for (const build of [buildClientPackage, buildCliPackage]) {
    const { tarball, sha256 } = await build();
    print(`${sha256}  ${tarball.replace(ROOT, "")}`);
  }
});

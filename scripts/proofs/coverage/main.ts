/** `deno task coverage`: the files and functions of `src` that one payment and one token request run. */
import { requestCoverage } from "./request_coverage.ts";
import { optionsOf, runProgram } from "../../command_line/run.ts";

const USAGE = `deno task coverage [--files]

  Prints how many files and functions of src one payment and one token request run.

  --files   also their names`;

await runProgram(USAGE, async (args, print) => {
  const { files: named } = optionsOf(args, [], ["files"]);
  for (const [request, files] of Object.entries(await requestCoverage())) {
    const functions = Object.values(files).flat().length;
    print(`${request}: ${Object.keys(files).length} files, ${functions} functions`);
    if (!named) continue;
    for (const [file, names] of Object.entries(files)) print(`  ${file}: ${names.join(", ")}`);
  }
});

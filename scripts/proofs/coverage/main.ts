/** `deno task coverage`: the files and functions of `src` that one payment and one token request run. */
import { requestCoverage } from "./request_coverage.ts";
import { printLine } from "../../command_line/print.ts";

for (const [request, files] of Object.entries(await requestCoverage())) {
  const functions = Object.values(files).flat().length;
  printLine(`${request}: ${Object.keys(files).length} files, ${functions} functions`);
  if (!Deno.args.includes("--files")) continue;
  for (const [file, names] of Object.entries(files)) printLine(`  ${file}: ${names.join(", ")}`);
}

/**
 * The house rules that look at one file, as a plugin of `deno lint`, so that editors show them. `main.ts` holds the
 * rules that need more than one file, or files that are not programs.
 */
import { noClock, noDeno, noDoubleCast, noLoneTest, noUnfinishedWork } from "./code_rules.ts";
import { fileHeader, fileLength, fileName, functionLength } from "./file_rules.ts";
import { imports, noBarrel, noStoreCall } from "./import_rules.ts";

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "imports": imports,
    "no-barrel": noBarrel,
    "no-store-call": noStoreCall,
    "file-name": fileName,
    "file-length": fileLength,
    "file-header": fileHeader,
    "function-length": functionLength,
    "no-unfinished-work": noUnfinishedWork,
    "no-double-cast": noDoubleCast,
    "no-lone-test": noLoneTest,
    "no-deno": noDeno,
    "no-clock": noClock,
  },
};

export default plugin;

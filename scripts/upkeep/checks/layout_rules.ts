/** The folders of each program from the lowest level to the highest, as data. `import_rules.ts` enforces this file. */

/** A file may import its own folder and those before it. Folders inside a folder must not form a circle. */
export const LEVELS: Readonly<Record<string, readonly string[]>> = {
  "src/base": ["kernel", "merkle", "values", "jose", "store", "observability", "http"],
  "src/platform": ["config", "observed", "evidence", "guards", "events", "core", "operations", "process"],
  "src/directory": [
    "config",
    "observed",
    "certification",
    "participants",
    "keys",
    "statements",
    "changes",
    "http",
    "reminders",
    "console",
    "process",
  ],
  "scripts": ["command_line", "testing", "upkeep", "operators", "integrators", "proofs"],
};

/** The store's verbs are called here alone. */
export const MAY_CALL_STORE: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^base\/store\//, because: "it is the store" },
  { files: /_store\.ts$/, because: "stores are the verbs that the rest of the program uses" },
  { files: /^platform\/evidence\/audit_trail\.ts$/, because: "the history's one reader and writer" },
  { files: /^base\/observability\/health\.ts$/, because: "asks whether the store answers" },
  { files: /^directory\/http\/public_routes\.ts$/, because: "asks whether the store answers" },
];

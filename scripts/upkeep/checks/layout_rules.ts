/** The folders of each program from the lowest level to the highest, and which program may import which, as data. `import_rules.ts` enforces this file. */
import { PLATFORM_IN_SANDBOX } from "./restriction_rules.ts";

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

/** The programs of `src` and what each may import of the others. `base` is below all of them. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  pages: ["base"],
  portal: ["base", "pages"],
  console: ["base", "pages"],
  platform: ["base", "console", "pages", "portal"],
  directory: ["base", "console", "pages"],
  client: [],
  sandbox: ["client"],
};

/** Single files that may import beyond their program, with the reason. Paths are below `src/`. */
export const OPENINGS: readonly { readonly from: RegExp; readonly to: RegExp; readonly because: string }[] = [
  {
    from: new RegExp(`^${PLATFORM_IN_SANDBOX}$`),
    to:
      /^(platform\/(process\/(compose|own_store)|config\/config|guards\/security\/operator_roles|evidence\/data_keys\/wrapping_keys)\.ts|directory\/.*|base\/(store\/open_store|http\/credentials|http\/deno_fetch|jose\/key_ring|kernel\/clock|observability\/log)\.ts)$/,
    because: "the sandbox starts the platform and the directory in its own process",
  },
  {
    from: /^sandbox\/(bank|shop|pages)\//,
    to: /^pages\/((language|messages|formats)\.ts|html_document\.tsx|base\.css)$/,
    because:
      "all pages choose languages and format messages, money and times alike, in one HTML document; no protocol is shared",
  },
  {
    from: /^sandbox\/developer\//,
    to: /^pages\/((html_document|consent_page)\.tsx|(language|stylesheet|fonts)\.ts)$/,
    because:
      "the sandbox's pages for developers look like the portal that links to them, and show what the platform's consent screen makes of an edited consent",
  },
];

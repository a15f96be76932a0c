/**
 * Who may import whom in `src`, as data: levels, exceptions within a level, and files and packages that few may import.
 * Every exception carries its reason. `import_rules.ts` enforces this file.
 */

/**
 * The parts of `src/base` and `src/platform` by level: folders, and files beside folders. A part may import itself and
 * lower levels of its own program.
 */
export const LEVELS: readonly (readonly string[])[] = [
  ["base/limits.ts"],
  ["base/kernel", "base/merkle"],
  ["base/values"],
  ["base/http", "base/jose", "base/store", "base/observability"],
  [
    "platform/profile.ts",
    "platform/paths.ts",
    "platform/rate_policies.ts",
    "platform/store_keys.ts",
    "platform/cells.ts",
    "platform/address_faults.ts",
  ],
  ["platform/evidence_log"],
  ["platform/config.ts", "platform/audit_trail.ts", "platform/evidence", "platform/http"],
  ["platform/security", "platform/idempotency", "platform/lanes.ts"],
  [
    "platform/frontchannel",
    "platform/backchannel",
    "platform/payments",
    "platform/consents",
    "platform/oauth",
    "platform/registration",
    "platform/participants",
    "platform/recovery",
  ],
  [
    "platform/main.ts",
    "platform/process",
    "platform/compose.ts",
    "platform/compose_parts.ts",
    "platform/records.ts",
    "platform/background_work.ts",
    "platform/app.ts",
    "platform/public_pages.ts",
    "platform/openapi.ts",
  ],
];

/** A part that another one of its level may import. */
export interface Crossing {
  readonly from: string;
  readonly to: string;
  readonly because: string;
}

/** The exceptions within a level. */
export const CROSSINGS: readonly Crossing[] = [
  {
    from: "base/http",
    to: "base/store",
    because: "single-use token ids of a request are staged at its edge",
  },
  { from: "base/http", to: "base/observability", because: "errors are logged where they become answers" },
  {
    from: "base/observability",
    to: "base/store",
    because: "health asks the store",
  },
  {
    from: "platform/idempotency",
    to: "platform/security",
    because: "only a proven caller's signed body may be answered again",
  },
  {
    from: "platform/frontchannel",
    to: "platform/oauth",
    because: "a flow begins with a pushed request and ends with a code",
  },
  {
    from: "platform/audit_trail.ts",
    to: "platform/evidence",
    because: "an entry and its evidence are one commit",
  },
  {
    from: "platform/evidence",
    to: "platform/audit_trail.ts",
    because: "a case file is read from histories",
  },
  { from: "platform/frontchannel", to: "platform/consents", because: "the customer decides on a consent" },
  {
    from: "platform/frontchannel",
    to: "platform/participants",
    because: "handover JWTs need the bank's keys",
  },
  {
    from: "platform/frontchannel",
    to: "platform/registration",
    because: "the bank's and the client's registered URLs",
  },
  { from: "platform/payments", to: "platform/consents", because: "a payment consumes its consent" },
  {
    from: "platform/backchannel",
    to: "platform/consents",
    because: "a bank reads a consent and names its payer accounts",
  },
  {
    from: "platform/backchannel",
    to: "platform/payments",
    because: "a bank fetches payment orders and reports on them",
  },
  {
    from: "platform/recovery",
    to: "platform/consents",
    because: "a restore voids consents, and a bank's statement recovers them",
  },
  {
    from: "platform/recovery",
    to: "platform/payments",
    because: "held orders and lost payments are compared with the bank's",
  },
  { from: "platform/recovery", to: "platform/participants", because: "banks sign their statements" },
  {
    from: "platform/recovery",
    to: "platform/frontchannel",
    because: "a restore ends the authorization sessions of the copy",
  },
  {
    from: "platform/recovery",
    to: "platform/oauth",
    because: "a restore ends the pushed requests of the copy",
  },
  { from: "platform/recovery", to: "platform/registration", because: "where a bank takes orders" },
  { from: "platform/oauth", to: "platform/consents", because: "an authorization request is for one consent" },
  { from: "platform/oauth", to: "platform/registration", because: "what a client registered" },
  {
    from: "platform/registration",
    to: "platform/participants",
    because: "software statements and key sets are the directory's",
  },
  { from: "platform/main.ts", to: "platform/process", because: "the entry starts a process" },
  { from: "platform/process", to: "platform/compose.ts", because: "a process starts what the root composes" },
  {
    from: "platform/process",
    to: "platform/compose_parts.ts",
    because: "a process gives the root its parts",
  },
  {
    from: "platform/compose.ts",
    to: "platform/compose_parts.ts",
    because: "the root wires what both hosts share",
  },
  { from: "platform/compose.ts", to: "platform/background_work.ts", because: "the root names the jobs" },
  { from: "platform/compose.ts", to: "platform/app.ts", because: "the root wires the apps" },
  { from: "platform/compose.ts", to: "platform/public_pages.ts", because: "the root wires the apps" },
  {
    from: "platform/compose.ts",
    to: "platform/openapi.ts",
    because: "the document is made of the wired apps",
  },
  { from: "platform/app.ts", to: "platform/public_pages.ts", because: "the browser host serves them" },
];

/** Something that few files may import, or import only as a type. Paths are below `src/`. */
export interface Restriction {
  readonly name: string;
  /** Specifiers of packages (RESTRICTED_PACKAGES), or paths below `src/` (RESTRICTED_FILES). */
  readonly target: RegExp;
  readonly mayImport: RegExp;
  /** Others may still name its types. */
  readonly typesForAll?: true;
  /** The recommended alternative. */
  readonly instead: string;
}

const PLATFORM_IN_SANDBOX = "sandbox/ecosystem/platform_and_directory\\.ts";

/** Files of ours that are not for everyone. */
export const RESTRICTED_FILES: readonly Restriction[] = [
  {
    name: "the database itself",
    target: /^base\/store\/(deno_kv|database_file|open_store|postgres\/.*)\.ts$/,
    mayImport: new RegExp(
      `^(base/store/(?:database_file|open_store|store_url|postgres/.*)\\.ts|platform/compose\\.ts|platform/process/running_platform\\.ts|directory/main\\.ts|${PLATFORM_IN_SANDBOX})$`,
    ),
    instead: "take a Store from whoever composes the program",
  },
  {
    name: "the storage port",
    target: /^base\/store\/store\.ts$/,
    mayImport: /^(base\/store\/.*|.*_store\.ts|platform\/compose\.ts)$/,
    typesForAll: true,
    instead: "import it as a type, and read and write through a `*_store.ts`",
  },
  {
    name: "staged writes",
    target: /^(base\/store\/transaction|platform\/store_keys)\.ts$/,
    mayImport: /^(?!pages\/|.*(_schema|_representation|_page|routes)\.tsx?$)/,
    instead: "leave writing to the use case",
  },
  {
    name: "configuration",
    target: /^platform\/config\.ts$/,
    mayImport: new RegExp(`^(platform/process/\\w+\\.ts|platform/compose\\.ts|${PLATFORM_IN_SANDBOX})$`),
    typesForAll: true,
    instead: "import it as a type, or better take the values that are needed",
  },
];

/** Packages that are not for everyone. */
export const RESTRICTED_PACKAGES: readonly Restriction[] = [
  {
    name: "npm:jose",
    target: /^(npm:)?\/?jose(@|\/|$)/,
    mayImport: /^(base\/jose|client|sandbox)\//,
    instead: "use src/base/jose, where the one algorithm and its limits are fixed",
  },
  {
    name: "Hono",
    target: /^(npm:)?\/?hono(@|\/|$)/,
    mayImport:
      /^(((base|platform)\/http|platform\/(security|idempotency)|pages|portal|sandbox)\/.*|(.*\/)?(\w+_)?routes\.ts|platform\/(app|public_pages)\.ts|platform\/frontchannel\/browser_binding\.ts|directory\/(administrators|participants_page|compose_directory|on_error|cacheable|request_context|json_body|methods|administrator|public_limit|publishing|endpoint)\.tsx?)$/,
    instead: "keep the use case free of requests: routes and guards take them apart",
  },
  {
    name: "@hono/zod-openapi",
    target: /^(npm:)?\/?@hono\/zod-openapi(@|\/|$)/,
    mayImport:
      /^(((base|platform)\/http|platform\/(security|idempotency)|sandbox)\/.*|(.*\/)?(\w+_)?routes\.ts|.*_(schema|representation)\.ts|platform\/oauth\/token_response\.ts|platform\/(app|public_pages)\.ts)$/,
    instead: "describe wire forms in a `_schema` or `_representation` file",
  },
  {
    name: "intl-messageformat",
    target: /^(npm:)?\/?(intl-messageformat|@formatjs\/.*)(@|\/|$)/,
    mayImport: /^pages\/messages\.ts$/,
    instead: "use messagesOf of src/pages/messages.ts",
  },
  {
    name: "npm:postgres",
    target: /^(npm:)?\/?postgres(@|\/|$)/,
    mayImport: /^base\/store\/postgres\/connections\.ts$/,
    instead: "use the storage port",
  },
  {
    name: "the code of the tests",
    target: /^(testing|support)\//,
    mayImport: /^(?!)/,
    instead: "keep what a program needs in src",
  },
  {
    name: "node:*",
    target: /^node:/,
    mayImport: /^((client|sandbox)\/|base\/store\/database_file\.ts$)/,
    instead: "use Fetch and WebCrypto",
  },
];

/** The store's verbs are called here alone. */
export const MAY_CALL_STORE: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^base\/store\//, because: "it is the store" },
  { files: /_store\.ts$/, because: "stores are the verbs that the rest of the program uses" },
  { files: /^platform\/audit_trail\.ts$/, because: "the history's one reader and writer" },
  { files: /^base\/observability\/health\.ts$/, because: "asks whether the store answers" },
  { files: /^directory\/public_routes\.ts$/, because: "asks whether the store answers" },
];

/** The programs of `src` and what each may import of the others. `base` is below all of them. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  pages: ["base"],
  portal: ["base", "pages"],
  platform: ["base", "pages", "portal"],
  directory: ["base"],
  client: [],
  sandbox: ["client"],
};

/** Single files that may import beyond their program, with the reason. Paths are below `src/`. */
export const OPENINGS: readonly { readonly from: RegExp; readonly to: RegExp; readonly because: string }[] = [
  {
    from: new RegExp(`^${PLATFORM_IN_SANDBOX}$`),
    to:
      /^(platform\/(compose|config)\.ts|directory\/.*|base\/(store\/open_store|jose\/key_ring|kernel\/clock|observability\/log)\.ts)$/,
    because: "the sandbox starts the platform and the directory in its own process",
  },
  {
    from: /^sandbox\/(bank|shop|pages)\//,
    to: /^pages\/((language|messages|formats)\.ts|html_document\.tsx|base\.css)$/,
    because:
      "all pages choose languages and format messages, money and times alike, in one HTML document; no protocol is shared",
  },
  {
    from: /^portal\/.*_guide\.ts$/,
    to: /^platform\/profile\.ts$/,
    because: "guides state the lifetimes that the platform enforces",
  },
];

/**
 * Who may import whom in `src`, as data: levels, the written list of crossings, and the doors that few may use.
 * Every exception carries its reason. `check_imports.ts` enforces this file and holds no rule of its own.
 */

/** The rooms of `src` (folders, and files beside them) by level. A room sees itself and lower levels. */
export const LEVELS: readonly (readonly string[])[] = [
  [],
  ["kernel", "profile.ts", "rate_policies.ts", "operator.ts", "config.ts"],
  ["http", "jose", "store", "observability"],
  ["security", "idempotency", "ui"],
  [
    "frontchannel",
    "backchannel",
    "payments",
    "consents",
    "oauth",
    "registration",
    "participants",
    "recovery",
  ],
  [
    "main.ts",
    "compose.ts",
    "compose_parts.ts",
    "background_work.ts",
    "app.ts",
    "public_pages.ts",
    "openapi.ts",
  ],
];

/** A room that another one of its level sees. */
export interface Crossing {
  readonly from: string;
  readonly to: string;
  readonly because: string;
}

/** The written list of crossings within a level. */
export const CROSSINGS: readonly Crossing[] = [
  { from: "kernel", to: "profile.ts", because: "limits of JSON are protocol constants" },
  { from: "config.ts", to: "rate_policies.ts", because: "limits are configured" },
  { from: "config.ts", to: "kernel", because: "account schemes are configured" },
  { from: "config.ts", to: "operator.ts", because: "the operator's name and logo are configured" },
  { from: "config.ts", to: "profile.ts", because: "a deployment chooses among the protocol's constants" },
  { from: "http", to: "store", because: "a request's single-use markers are begun and spent at its edge" },
  { from: "http", to: "observability", because: "errors are logged where they become answers" },
  {
    from: "observability",
    to: "store",
    because: "the history of a resource is stored, and health asks the store",
  },
  {
    from: "idempotency",
    to: "security",
    because: "only a proven caller's signed body may be answered again",
  },
  { from: "frontchannel", to: "oauth", because: "a flow begins with a pushed request and ends with a code" },
  { from: "frontchannel", to: "consents", because: "the customer decides on a consent" },
  { from: "frontchannel", to: "participants", because: "hand-over JWTs need the bank's keys" },
  { from: "frontchannel", to: "registration", because: "the bank's and the client's registered URLs" },
  { from: "payments", to: "consents", because: "a payment consumes its consent" },
  { from: "backchannel", to: "consents", because: "a bank reads a consent and names its payer accounts" },
  { from: "backchannel", to: "payments", because: "a bank fetches payment orders and reports on them" },
  {
    from: "recovery",
    to: "consents",
    because: "a restore voids consents, and a bank's statement recovers them",
  },
  { from: "recovery", to: "payments", because: "held orders and lost payments are compared with the bank's" },
  { from: "recovery", to: "participants", because: "banks sign their statements" },
  { from: "recovery", to: "registration", because: "where a bank takes orders" },
  { from: "oauth", to: "consents", because: "an authorization request is for one consent" },
  { from: "oauth", to: "registration", because: "what a client registered" },
  {
    from: "registration",
    to: "participants",
    because: "software statements and key sets are the directory's",
  },
  { from: "main.ts", to: "compose.ts", because: "the entry starts what the root composes" },
  { from: "compose.ts", to: "compose_parts.ts", because: "the root wires what both hosts share" },
  { from: "compose.ts", to: "background_work.ts", because: "the root names the jobs" },
  { from: "compose.ts", to: "app.ts", because: "the root wires the apps" },
  { from: "compose.ts", to: "public_pages.ts", because: "the root wires the apps" },
  { from: "compose.ts", to: "openapi.ts", because: "the document is made of the wired apps" },
  { from: "app.ts", to: "public_pages.ts", because: "the browser host serves them" },
];

/** Something that few files may import, or import only as a type. Paths are below `src/`. */
export interface Door {
  readonly name: string;
  /** Specifiers of packages (PACKAGE_DOORS), or paths below `src/` (FILE_DOORS). */
  readonly behind: RegExp;
  readonly mayEnter: RegExp;
  /** Others may still name its types. */
  readonly typesForAll?: true;
  /** What to do instead. */
  readonly instead: string;
}

const PLATFORM_IN_SANDBOX = "sandbox/platform_and_directory\\.ts";

/** Files of ours that are not for everyone. */
export const FILE_DOORS: readonly Door[] = [
  {
    name: "the database itself",
    behind: /^store\/deno_kv\.ts$/,
    mayEnter: new RegExp(`^(compose\\.ts|main\\.ts|directory/main\\.ts|${PLATFORM_IN_SANDBOX})$`),
    instead: "take a Store from whoever composes the program",
  },
  {
    name: "the storage port",
    behind: /^store\/store\.ts$/,
    mayEnter: /^(store\/.*|.*_store\.ts|compose\.ts)$/,
    typesForAll: true,
    instead: "import it as a type, and read and write through a `*_store.ts`",
  },
  {
    name: "staged writes",
    behind: /^store\/(transaction|keys)\.ts$/,
    mayEnter: /^(?!ui\/|.*(_schema|_representation|_page|routes)\.tsx?$)/,
    instead: "leave writing to the use case",
  },
  {
    name: "configuration",
    behind: /^config\.ts$/,
    mayEnter: new RegExp(`^(main\\.ts|compose\\.ts|${PLATFORM_IN_SANDBOX})$`),
    typesForAll: true,
    instead: "import it as a type, or better take the values that are needed",
  },
];

/** Packages that are not for everyone. */
export const PACKAGE_DOORS: readonly Door[] = [
  {
    name: "npm:jose",
    behind: /^(npm:)?\/?jose(@|\/|$)/,
    mayEnter: /^(jose|sandbox)\//,
    instead: "use src/jose, where the one algorithm and its limits are fixed",
  },
  {
    name: "Hono",
    behind: /^(npm:)?\/?hono(@|\/|$)/,
    mayEnter:
      /^((http|security|idempotency|ui|sandbox)\/.*|(.*\/)?(\w+_)?routes\.ts|app\.ts|public_pages\.ts|frontchannel\/browser_binding\.ts|observability\/request_log\.ts|directory\/(participants_page|compose_directory|on_error|cacheable|request_context|json_body|methods|administrator|public_limit|publishing|endpoint)\.tsx?)$/,
    instead: "keep the use case free of requests: routes and guards take them apart",
  },
  {
    name: "@hono/zod-openapi",
    behind: /^(npm:)?\/?@hono\/zod-openapi(@|\/|$)/,
    mayEnter:
      /^((http|security|idempotency|sandbox)\/.*|(.*\/)?(\w+_)?routes\.ts|.*_(schema|representation)\.ts|oauth\/token_response\.ts|app\.ts|public_pages\.ts)$/,
    instead: "describe wire forms in a `_schema` or `_representation` file",
  },
  {
    name: "node:*",
    behind: /^node:/,
    mayEnter: /^sandbox\//,
    instead: "use Fetch and WebCrypto",
  },
];

/** The store's verbs are called here alone. */
export const MAY_CALL_STORE: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^store\//, because: "it is the store" },
  { files: /_store\.ts$/, because: "stores are the verbs that the rest of the program uses" },
  { files: /^observability\/audit_trail\.ts$/, because: "the history's one reader and writer" },
  { files: /^observability\/health\.ts$/, because: "asks whether the store answers" },
  { files: /^directory\/public_routes\.ts$/, because: "asks whether the store answers" },
];

/** What of the platform the sandbox, a stranger, may import, and the one file that sets the platform up. */
export const SANDBOX = {
  mayImport: /^(sandbox\/.*|profile\.ts)$/,
  composer: new RegExp(`^${PLATFORM_IN_SANDBOX}$`),
  composerMayImport:
    /^((compose|config)\.ts|directory\/.*|store\/deno_kv\.ts|jose\/key_ring\.ts|kernel\/clock\.ts|observability\/log\.ts)$/,
} as const;

/** The directory is an app of its own over levels 1 and 2. */
export const DIRECTORY = {
  highestLevel: 2,
  mayImportIt: new RegExp(`^${PLATFORM_IN_SANDBOX}$`),
} as const;

/** Files and packages that few files of `src` may import, as data. `import_rules.ts` enforces this file. */

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

/** Composes platform and directory. */
export const PLATFORM_IN_SANDBOX = "sandbox/ecosystem/platform_and_directory\\.ts";

/** Files of ours that are not for everyone. */
export const RESTRICTED_FILES: readonly Restriction[] = [
  {
    name: "the database itself",
    target: /^base\/store\/(deno_kv|sqlite_(store|statements)|database_file|open_store|postgres\/.*)\.ts$/,
    mayImport: new RegExp(
      `^(base/store/(?:check_store|database_file|open_store|sqlite_store|store_url|postgres/.*)\\.ts|platform/process/(?:compose|main(?:_node)?)\\.ts|directory/process/main\\.ts|${PLATFORM_IN_SANDBOX})$`,
    ),
    instead: "take a Store from whoever composes the program",
  },
  {
    name: "the storage port",
    target: /^base\/store\/store\.ts$/,
    mayImport: /^(base\/store\/.*|.*_store\.ts|platform\/process\/compose\.ts)$/,
    typesForAll: true,
    instead: "import it as a type, and read and write through a `*_store.ts`",
  },
  {
    name: "staged writes",
    target: /^(base\/store\/transaction|platform\/config\/store_keys)\.ts$/,
    mayImport: /^(?!pages\/|.*(_schema|_representation|_page|routes)\.tsx?$)/,
    instead: "leave writing to the use case",
  },
  {
    name: "configuration",
    target: /^platform\/config\/config\.ts$/,
    mayImport: new RegExp(`^(platform/process/\\w+\\.ts|${PLATFORM_IN_SANDBOX})$`),
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
      /^((base\/http|platform\/(guards\/(http|security|idempotency)|operations\/console)|console|pages|portal|sandbox|directory\/(http|console))\/.*|(.*\/)?(\w+_)?routes\.ts|platform\/process\/(host|operations_host|public_pages)\.ts|platform\/operations\/traces\/trace_page\.tsx|platform\/core\/frontchannel\/browser_binding\.ts|directory\/(process\/(compose_directory|inside_calls)|participants\/login)\.ts)$/,
    instead: "keep the use case free of requests: routes and guards take them apart",
  },
  {
    name: "@hono/zod-openapi",
    target: /^(npm:)?\/?@hono\/zod-openapi(@|\/|$)/,
    mayImport:
      /^((base\/http|platform\/guards\/(http|security|idempotency)|sandbox)\/.*|(.*\/)?(\w+_)?routes\.ts|.*_(schema|representation)\.ts|platform\/core\/oauth\/token_response\.ts|platform\/process\/(host|operations_host|public_pages)\.ts)$/,
    instead: "describe wire forms in a `_schema` or `_representation` file",
  },
  {
    name: "intl-messageformat",
    target: /^(npm:)?\/?(intl-messageformat|@formatjs\/.*)(@|\/|$)/,
    mayImport: /^pages\/messages\.ts$/,
    instead: "use messagesOf of src/pages/messages.ts",
  },
  {
    name: "npm:nodemailer",
    target: /^(npm:)?\/?nodemailer(@|\/|$)/,
    mayImport: /^directory\/reminders\/mailer\.ts$/,
    instead: "send mails with openMailer",
  },
  {
    name: "npm:prom-client",
    target: /^(npm:)?\/?prom-client(@|\/|$)/,
    mayImport: /^base\/observability\/metrics\.ts$/,
    instead: "declare the metric in the program's metrics.ts",
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
    mayImport:
      /^((client|sandbox)\/|base\/store\/(check_store|database_file|last_seen|own_file|sqlite_\w+|postgres\/connections)\.ts$|base\/http\/(credential_file|node_listener|open_files|signer_client|stop_signal)\.ts$|platform\/(process\/\w+|evidence\/data_keys\/sealing_store)\.ts$|directory\/reminders\/mailer\.ts$)/,
    instead: "use Fetch and WebCrypto",
  },
];

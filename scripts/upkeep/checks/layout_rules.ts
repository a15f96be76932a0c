/**
 * Who may import whom in `src`, as data: levels, and exceptions within a level.
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
    "base/profile.ts",
    "platform/config/paths.ts",
    "platform/config/rate_policies.ts",
    "platform/config/store_keys.ts",
    "platform/observed/metrics.ts",
    "platform/observed/log_events.ts",
    "platform/observed/operator_events.ts",
    "platform/observed/delivery_events.ts",
    "platform/config/cells.ts",
    "platform/config/address_faults.ts",
    "platform/config/operators_config.ts",
    "platform/config/span_collector.ts",
    "platform/config_values.ts",
  ],
  [
    "platform/config/config.ts",
    "platform/config/config_variables.ts",
    "platform/evidence/audit_trail.ts",
    "platform/evidence",
    "platform/evidence/evidence_log",
    "platform/evidence/data_keys",
    "platform/observed/figures",
    "platform/guards/http",
  ],
  [
    "platform/guards/security",
    "platform/guards/idempotency",
    "platform/events/delivery",
    "platform/guards/lookup",
    "platform/guards/lanes.ts",
    "platform/process/process_clocks.ts",
  ],
  [
    "platform/core/frontchannel",
    "platform/core/backchannel",
    "platform/core/payments",
    "platform/core/consents",
    "platform/core/oauth",
    "platform/core/registration",
    "platform/core/participants",
    "platform/operations/recovery",
    "platform/operations/cases",
    "platform/operations",
    "platform/operations/traces",
    "platform/core/receipts",
    "platform/events",
  ],
  ["platform/operations/search", "platform/operations/reports", "platform/process/kept_records.ts"],
  ["platform/operations/own"],
  ["platform/operations/console"],
  [
    "platform/process/main.ts",
    "platform/process/main_node.ts",
    "platform/process",
    "platform/process/compose.ts",
    "platform/process/compose_parts.ts",
    "platform/process/compose_events.ts",
    "platform/process/compose_operations.ts",
    "platform/process/compose_work.ts",
    "platform/process/measured_parts.ts",
    "platform/process/scraped_values.ts",
    "platform/process/records.ts",
    "platform/process/background_work.ts",
    "platform/process/app.ts",
    "platform/process/public_pages.ts",
    "platform/process/openapi.ts",
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
  { from: "base/observability", to: "base/store", because: "health asks the store" },
  {
    from: "platform/evidence/audit_trail.ts",
    to: "platform/evidence/evidence_log",
    because: "an entry and its leaf hash are one commit",
  },
  {
    from: "platform/guards/idempotency",
    to: "platform/guards/lookup",
    because: "a claim is found by its key alone",
  },
  {
    from: "platform/guards/idempotency",
    to: "platform/guards/security",
    because: "only a proven caller's signed body may be answered again",
  },
  {
    from: "platform/core/frontchannel",
    to: "platform/core/oauth",
    because: "a flow begins with a pushed request and ends with a code",
  },
  {
    from: "platform/evidence/audit_trail.ts",
    to: "platform/evidence",
    because: "an entry and its evidence are one commit",
  },
  {
    from: "platform/evidence",
    to: "platform/evidence/audit_trail.ts",
    because: "a case file is read from histories",
  },
  {
    from: "platform/observed/log_events.ts",
    to: "platform/observed/operator_events.ts",
    because: "it lists them",
  },
  {
    from: "platform/observed/log_events.ts",
    to: "platform/observed/delivery_events.ts",
    because: "it lists them",
  },
  {
    from: "platform/config/config.ts",
    to: "platform/config/config_variables.ts",
    because: "it reads these variables",
  },
  { from: "platform/evidence/data_keys", to: "platform/evidence", because: "both hash without a promise" },
  {
    from: "platform/core/frontchannel",
    to: "platform/core/consents",
    because: "the customer decides on a consent",
  },
  {
    from: "platform/core/frontchannel",
    to: "platform/core/participants",
    because: "handover JWTs need the bank's keys",
  },
  {
    from: "platform/core/frontchannel",
    to: "platform/core/registration",
    because: "the bank's and the client's registered URLs",
  },
  { from: "platform/core/payments", to: "platform/core/consents", because: "a payment consumes its consent" },
  {
    from: "platform/core/backchannel",
    to: "platform/core/consents",
    because: "a bank reads a consent and names its payer accounts",
  },
  {
    from: "platform/core/backchannel",
    to: "platform/core/payments",
    because: "a bank fetches payment orders and reports on them",
  },
  {
    from: "platform/operations/recovery",
    to: "platform/core/consents",
    because: "a restore voids consents, and a bank's statement recovers them",
  },
  {
    from: "platform/operations/recovery",
    to: "platform/core/payments",
    because: "held orders and lost payments are compared with the bank's",
  },
  { from: "platform/core/consents", to: "platform/events", because: "a change and its event are one commit" },
  {
    from: "platform/core/backchannel",
    to: "platform/events",
    because: "a bank fetches its events like a TPP",
  },
  { from: "platform/core/payments", to: "platform/events", because: "a change and its event are one commit" },
  {
    from: "platform/operations/recovery",
    to: "platform/core/participants",
    because: "banks sign their statements",
  },
  {
    from: "platform/operations/recovery",
    to: "platform/core/frontchannel",
    because: "a restore ends the authorization sessions of the copy",
  },
  {
    from: "platform/operations/recovery",
    to: "platform/core/oauth",
    because: "a restore ends the pushed requests of the copy",
  },
  {
    from: "platform/operations/recovery",
    to: "platform/core/registration",
    because: "where a bank takes orders",
  },
  {
    from: "platform/operations",
    to: "platform/core/registration",
    because: "operators name registered participants",
  },
  {
    from: "platform/operations",
    to: "platform/operations/recovery",
    because: "a bank may be held by operators or after a restore",
  },
  { from: "platform/core/receipts", to: "platform/core/payments", because: "a receipt is of a payment" },
  {
    from: "platform/operations/cases",
    to: "platform/core/payments",
    because: "a case is found by its payment",
  },
  {
    from: "platform/operations/cases",
    to: "platform/core/consents",
    because: "a consent has the number of its newest entry",
  },
  {
    from: "platform/core/oauth",
    to: "platform/core/consents",
    because: "an authorization request is for one consent",
  },
  { from: "platform/core/oauth", to: "platform/core/registration", because: "what a client registered" },
  {
    from: "platform/core/registration",
    to: "platform/core/participants",
    because: "software statements and key sets are the directory's",
  },
  { from: "platform/process/main.ts", to: "platform/process", because: "the entry starts a process" },
  { from: "platform/process/main_node.ts", to: "platform/process", because: "the entry starts a process" },
  {
    from: "platform/process",
    to: "platform/process/compose.ts",
    because: "a process starts what the root composes",
  },
  {
    from: "platform/process",
    to: "platform/process/compose_parts.ts",
    because: "a process gives the root its parts",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/compose_parts.ts",
    because: "the root wires what both hosts share",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/compose_operations.ts",
    because: "the root wires the operations host",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/compose_events.ts",
    because: "the root wires its slices",
  },
  {
    from: "platform/process/compose_events.ts",
    to: "platform/process/compose_parts.ts",
    because: "it uses what hosts share",
  },
  {
    from: "platform/process/compose_events.ts",
    to: "platform/process/app.ts",
    because: "it wires routes of an app",
  },
  {
    from: "platform/process/compose_operations.ts",
    to: "platform/process/compose_parts.ts",
    because: "operators act on what the hosts share",
  },
  {
    from: "platform/process/compose_operations.ts",
    to: "platform/process/app.ts",
    because: "it wires an app",
  },
  {
    from: "platform/process/compose_operations.ts",
    to: "platform/process/openapi.ts",
    because: "the document is made of the wired app",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/compose_work.ts",
    because: "the root starts the jobs",
  },
  {
    from: "platform/process/compose_work.ts",
    to: "platform/process/compose_parts.ts",
    because: "jobs use what hosts share",
  },
  {
    from: "platform/process/compose_work.ts",
    to: "platform/process/background_work.ts",
    because: "it names the jobs",
  },
  {
    from: "platform/process/compose_work.ts",
    to: "platform/process/measured_parts.ts",
    because: "passes of jobs count",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/measured_parts.ts",
    because: "calls of the store are measured",
  },
  {
    from: "platform/process/compose_parts.ts",
    to: "platform/process/measured_parts.ts",
    because: "calls of the directory are counted",
  },
  {
    from: "platform/process/measured_parts.ts",
    to: "platform/process/background_work.ts",
    because: "it wraps jobs",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/scraped_values.ts",
    because: "the root wires what is scraped",
  },
  {
    from: "platform/process/scraped_values.ts",
    to: "platform/process/compose_parts.ts",
    because: "it reads what both hosts share",
  },
  {
    from: "platform/process/scraped_values.ts",
    to: "platform/process/measured_parts.ts",
    because: "it reads the process's values",
  },
  {
    from: "platform/process",
    to: "platform/process/measured_parts.ts",
    because: "a process reports its connections",
  },
  { from: "platform/process/compose.ts", to: "platform/process/app.ts", because: "the root wires the apps" },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/public_pages.ts",
    because: "the root wires the apps",
  },
  {
    from: "platform/process/compose.ts",
    to: "platform/process/openapi.ts",
    because: "the document is made of the wired apps",
  },
  {
    from: "platform/process/app.ts",
    to: "platform/process/public_pages.ts",
    because: "the browser host serves them",
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

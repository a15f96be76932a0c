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
    "platform/profile.ts",
    "platform/paths.ts",
    "platform/rate_policies.ts",
    "platform/store_keys.ts",
    "platform/metrics.ts",
    "platform/log_events.ts",
    "platform/operator_events.ts",
    "platform/delivery_events.ts",
    "platform/cells.ts",
    "platform/address_faults.ts",
    "platform/operators_config.ts",
    "platform/span_collector.ts",
    "platform/config_values.ts",
  ],
  [
    "platform/config.ts",
    "platform/config_variables.ts",
    "platform/audit_trail.ts",
    "platform/evidence",
    "platform/evidence_log",
    "platform/data_keys",
    "platform/figures",
    "platform/http",
  ],
  [
    "platform/security",
    "platform/idempotency",
    "platform/delivery",
    "platform/lookup",
    "platform/lanes.ts",
    "platform/process_clocks.ts",
  ],
  [
    "platform/frontchannel",
    "platform/backchannel",
    "platform/payments",
    "platform/consents",
    "platform/oauth",
    "platform/registration",
    "platform/participants",
    "platform/recovery",
    "platform/cases",
    "platform/operations",
    "platform/traces",
    "platform/receipts",
    "platform/events",
  ],
  ["platform/search", "platform/reports", "platform/kept_records.ts"],
  ["platform/own"],
  ["platform/console"],
  [
    "platform/main.ts",
    "platform/main_node.ts",
    "platform/process",
    "platform/compose.ts",
    "platform/compose_parts.ts",
    "platform/compose_events.ts",
    "platform/compose_operations.ts",
    "platform/compose_work.ts",
    "platform/measured_parts.ts",
    "platform/scraped_values.ts",
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
  { from: "base/observability", to: "base/store", because: "health asks the store" },
  {
    from: "platform/audit_trail.ts",
    to: "platform/evidence_log",
    because: "an entry and its leaf hash are one commit",
  },
  { from: "platform/idempotency", to: "platform/lookup", because: "a claim is found by its key alone" },
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
  { from: "platform/log_events.ts", to: "platform/operator_events.ts", because: "it lists them" },
  { from: "platform/log_events.ts", to: "platform/delivery_events.ts", because: "it lists them" },
  { from: "platform/config.ts", to: "platform/config_variables.ts", because: "it reads these variables" },
  { from: "platform/data_keys", to: "platform/evidence", because: "both hash without a promise" },
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
  { from: "platform/consents", to: "platform/events", because: "a change and its event are one commit" },
  { from: "platform/backchannel", to: "platform/events", because: "a bank fetches its events like a TPP" },
  { from: "platform/payments", to: "platform/events", because: "a change and its event are one commit" },
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
  {
    from: "platform/operations",
    to: "platform/registration",
    because: "operators name registered participants",
  },
  {
    from: "platform/operations",
    to: "platform/recovery",
    because: "a bank may be held by operators or after a restore",
  },
  { from: "platform/receipts", to: "platform/payments", because: "a receipt is of a payment" },
  { from: "platform/cases", to: "platform/payments", because: "a case is found by its payment" },
  {
    from: "platform/cases",
    to: "platform/consents",
    because: "a consent has the number of its newest entry",
  },
  { from: "platform/oauth", to: "platform/consents", because: "an authorization request is for one consent" },
  { from: "platform/oauth", to: "platform/registration", because: "what a client registered" },
  {
    from: "platform/registration",
    to: "platform/participants",
    because: "software statements and key sets are the directory's",
  },
  { from: "platform/main.ts", to: "platform/process", because: "the entry starts a process" },
  { from: "platform/main_node.ts", to: "platform/process", because: "the entry starts a process" },
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
  {
    from: "platform/compose.ts",
    to: "platform/compose_operations.ts",
    because: "the root wires the operations host",
  },
  { from: "platform/compose.ts", to: "platform/compose_events.ts", because: "the root wires its slices" },
  {
    from: "platform/compose_events.ts",
    to: "platform/compose_parts.ts",
    because: "it uses what hosts share",
  },
  { from: "platform/compose_events.ts", to: "platform/app.ts", because: "it wires routes of an app" },
  {
    from: "platform/compose_operations.ts",
    to: "platform/compose_parts.ts",
    because: "operators act on what the hosts share",
  },
  { from: "platform/compose_operations.ts", to: "platform/app.ts", because: "it wires an app" },
  {
    from: "platform/compose_operations.ts",
    to: "platform/openapi.ts",
    because: "the document is made of the wired app",
  },
  { from: "platform/compose.ts", to: "platform/compose_work.ts", because: "the root starts the jobs" },
  { from: "platform/compose_work.ts", to: "platform/compose_parts.ts", because: "jobs use what hosts share" },
  { from: "platform/compose_work.ts", to: "platform/background_work.ts", because: "it names the jobs" },
  { from: "platform/compose_work.ts", to: "platform/measured_parts.ts", because: "passes of jobs count" },
  {
    from: "platform/compose.ts",
    to: "platform/measured_parts.ts",
    because: "calls of the store are measured",
  },
  {
    from: "platform/compose_parts.ts",
    to: "platform/measured_parts.ts",
    because: "calls of the directory are counted",
  },
  { from: "platform/measured_parts.ts", to: "platform/background_work.ts", because: "it wraps jobs" },
  {
    from: "platform/compose.ts",
    to: "platform/scraped_values.ts",
    because: "the root wires what is scraped",
  },
  {
    from: "platform/scraped_values.ts",
    to: "platform/compose_parts.ts",
    because: "it reads what both hosts share",
  },
  {
    from: "platform/scraped_values.ts",
    to: "platform/measured_parts.ts",
    because: "it reads the process's values",
  },
  {
    from: "platform/process",
    to: "platform/measured_parts.ts",
    because: "a process reports its connections",
  },
  { from: "platform/compose.ts", to: "platform/app.ts", because: "the root wires the apps" },
  { from: "platform/compose.ts", to: "platform/public_pages.ts", because: "the root wires the apps" },
  {
    from: "platform/compose.ts",
    to: "platform/openapi.ts",
    because: "the document is made of the wired apps",
  },
  { from: "platform/app.ts", to: "platform/public_pages.ts", because: "the browser host serves them" },
];

/** The store's verbs are called here alone. */
export const MAY_CALL_STORE: readonly { readonly files: RegExp; readonly because: string }[] = [
  { files: /^base\/store\//, because: "it is the store" },
  { files: /_store\.ts$/, because: "stores are the verbs that the rest of the program uses" },
  { files: /^platform\/audit_trail\.ts$/, because: "the history's one reader and writer" },
  { files: /^base\/observability\/health\.ts$/, because: "asks whether the store answers" },
  { files: /^directory\/public_routes\.ts$/, because: "asks whether the store answers" },
];

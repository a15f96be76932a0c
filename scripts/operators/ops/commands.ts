/** The commands of `deno task ops` as requests to the operations API. */

/** A request of a command. */
export interface Planned {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The `Data` of the body. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Options by their name on the command line. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  /** Words before the ids, such as `bank hold`. */
  readonly words: string;
  /** Names of the ids that follow. */
  readonly ids: readonly string[];
  /** Required options, then optional ones. */
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  readonly switches?: readonly string[];
  readonly help: string;
  readonly plan: (ids: readonly string[], given: Given) => Planned;
}

const part = (text: string | undefined): string => encodeURIComponent(text ?? "");

function get(path: string, query: Readonly<Record<string, string | boolean | undefined>> = {}): Planned {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : []
  );
  return { method: "GET", path: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}` };
}

function post(path: string, data?: Planned["data"]): Planned {
  return { method: "POST", path, ...(data === undefined ? {} : { data }) };
}

/** A change of one party, for a reason. */
function change(words: string, id: string, pathOf: (id: string) => string, help: string): Command {
  return {
    words,
    ids: [id],
    required: ["reason"],
    help,
    plan: ([given], { reason }) => post(pathOf(part(given)), { Reason: reason }),
  };
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    words: "requests",
    ids: [],
    required: [],
    help: "Requests in work, by lane",
    plan: () => get("/requests"),
  },
  {
    words: "controls",
    ids: [],
    required: [],
    help: "What is blocked, held or announced",
    plan: () => get("/controls"),
  },
  change("organisation block", "ORG_ID", (id) => `/organisations/${id}/block`, "Blocks an organisation"),
  change("organisation unblock", "ORG_ID", (id) => `/organisations/${id}/unblock`, "Unblocks it"),
  change("software block", "CLIENT_ID", (id) => `/software/${id}/block`, "Blocks one software"),
  change("software unblock", "CLIENT_ID", (id) => `/software/${id}/unblock`, "Unblocks it"),
  change(
    "software revoke-tokens",
    "CLIENT_ID",
    (id) => `/software/${id}/revoke-tokens`,
    "Revokes its access tokens",
  ),
  change("bank hold", "BANK", (id) => `/banks/${id}/hold`, "Holds a bank's orders"),
  change("bank release", "BANK", (id) => `/banks/${id}/release`, "Releases them"),
  {
    words: "unsettled",
    ids: [],
    required: [],
    help: "Payments that are not final for long, by bank",
    plan: () => get("/unsettled-payments"),
  },
  {
    words: "bank inquire",
    ids: ["BANK"],
    required: [],
    help: "Asks a bank what became of its unsettled payments",
    plan: ([bank]) => post(`/banks/${part(bank)}/inquire`),
  },
  {
    words: "disputes",
    ids: [],
    required: [],
    help: "Disputes that have not ended, the one that is due first before the others",
    plan: () => get("/disputes"),
  },
  {
    words: "dispute show",
    ids: ["PAYMENT_ID"],
    required: [],
    help: "A dispute with the statements of both parties",
    plan: ([id]) => get(`/disputes/${part(id)}`),
  },
  {
    words: "dispute decide",
    ids: ["PAYMENT_ID"],
    required: ["outcome", "reason"],
    help: "Ends a dispute: --outcome Upheld or Rejected, of what its opener states",
    plan: ([id], { outcome, reason }) =>
      post(`/disputes/${part(id)}/decision`, { Outcome: outcome, Reason: reason }),
  },
  {
    words: "bank restores",
    ids: [],
    required: [],
    help: "Banks that are held after a restore, until deno task reconcile",
    plan: () => get("/order-holds"),
  },
  {
    words: "bank outage",
    ids: ["BANK"],
    required: ["from", "until", "text", "reason"],
    help: "Announces an outage; times as 2040-01-15T12:00:00Z",
    plan: ([bank], { from, until, text, reason }) =>
      post(`/banks/${part(bank)}/outages`, {
        FromDateTime: from,
        UntilDateTime: until,
        Text: text,
        Reason: reason,
      }),
  },
  {
    words: "bank change-outage",
    ids: ["BANK", "OUTAGE_ID"],
    required: ["from", "until", "text", "reason"],
    help: "Changes its times and text",
    plan: ([bank, id], { from, until, text, reason }) =>
      post(`/banks/${part(bank)}/outages/${part(id)}/change`, {
        FromDateTime: from,
        UntilDateTime: until,
        Text: text,
        Reason: reason,
      }),
  },
  {
    words: "bank cancel-outage",
    ids: ["BANK", "OUTAGE_ID"],
    required: ["reason"],
    help: "Cancels or ends it",
    plan: ([bank, id], { reason }) =>
      post(`/banks/${part(bank)}/outages/${part(id)}/cancel`, { Reason: reason }),
  },
  {
    words: "keys",
    ids: [],
    required: [],
    help: "The platform's keys on the process that answers, with the times of their rotation",
    plan: () => get("/keys"),
  },
  {
    words: "banks",
    ids: [],
    required: [],
    help: "Every bank: whether it works, is slow or fails by its last pushes, and its orders",
    plan: () => get("/banks"),
  },
  {
    words: "alarms",
    ids: [],
    required: [],
    help: "What needs an operator now, by what the platform itself knows",
    plan: () => get("/alarms"),
  },
  {
    words: "endings",
    ids: [],
    required: [],
    help: "Certificates and software statements that end in the next 30 days",
    plan: () => get("/endings"),
  },
  {
    words: "last-hour",
    ids: [],
    required: [],
    help: "Requests, payments, orders and rejections of the last hour and of today",
    plan: () => get("/last-hour"),
  },
  {
    words: "participant",
    ids: ["CLIENT_ID"],
    required: [],
    help: "A participant with its addresses, keys, certificates and last use",
    plan: ([id]) => get(`/participants/${part(id)}`),
  },
  {
    words: "processes",
    ids: [],
    required: [],
    help: "Every process of the platform, with its state",
    plan: () => get("/processes"),
  },
  {
    words: "proposals",
    ids: [],
    required: [],
    help: "Changes that need two operators, and what a second one has decided",
    plan: () => get("/proposals"),
  },
  change("proposal approve", "PROPOSAL_ID", (id) => `/proposals/${id}/approve`, "Approves and carries out"),
  change("proposal withdraw", "PROPOSAL_ID", (id) => `/proposals/${id}/withdraw`, "Withdraws or declines"),
  {
    words: "orders",
    ids: [],
    required: ["state"],
    optional: ["bank", "after"],
    help: "Orders that no bank has answered: --state waiting, held or dead",
    plan: (_, { state, bank, after }) => get("/payment-orders", { state, bank, after }),
  },
  {
    words: "order redrive",
    ids: ["PAYMENT_ID"],
    required: [],
    help: "Tries a dead order again",
    plan: ([id]) => post(`/payment-orders/${part(id)}/redrive`),
  },
  {
    words: "events",
    ids: [],
    required: [],
    optional: ["after"],
    help: "Pushes of events by subscriber: what waits, what is dead and why",
    plan: (_, { after }) => get("/event-deliveries", { after }),
  },
  {
    words: "event redrive",
    ids: ["CLIENT_ID", "BANK"],
    required: [],
    help: "Pushes a subscriber's dead events again",
    plan: ([client, bank]) => post(`/event-deliveries/${part(client)}/${part(bank)}/redrive`),
  },
  {
    words: "order close",
    ids: ["PAYMENT_ID"],
    required: ["reason", "status-reason"],
    switches: ["may-be-at-bank"],
    help: "Closes a dead order; --status-reason is for the TPP",
    plan: ([id], given) =>
      post(`/payment-orders/${part(id)}/close`, {
        Reason: given["reason"],
        StatusReason: given["status-reason"],
        ...(given["may-be-at-bank"] === true ? { MayBeAtBank: true } : {}),
      }),
  },
  {
    words: "search",
    ids: ["ID"],
    required: [],
    help:
      "A payment by the number on an error page, its own or its consent's id, end-to-end id or idempotency key",
    plan: ([id]) => get("/search", { q: id }),
  },
  {
    words: "cases",
    ids: [],
    required: ["amount", "from"],
    optional: ["until", "currency", "bank", "tpp", "after"],
    help: "Payments by amount, as 49.90, and days (UTC), as 2040-01-15",
    plan: (_, { amount, from, until, currency, bank, tpp, after }) =>
      get("/cases", { amount, from, until, currency, bank, tpp, after }),
  },
  ...(["banks", "tpps"] as const).map((kind): Command => ({
    words: `report ${kind}`,
    ids: [],
    required: [],
    optional: ["id", "from", "until", "after"],
    switches: ["csv"],
    help: kind === "banks"
      ? "Availability, answers and volumes of banks by day; days as 2040-01-15, --csv prints a table"
      : "Requests and payments of TPPs by day",
    plan: (_, { csv, id, from, until, after }) =>
      get(`/reports/${kind}${csv === true ? ".csv" : ""}`, { id, from, until, after }),
  })),
  {
    words: "report funnel",
    ids: [],
    required: [],
    optional: ["by", "bank", "tpp", "from", "until"],
    switches: ["csv"],
    help: "How many customers reach each step; --by day,bank,tpp,type,language",
    plan: (_, { csv, by, bank, tpp, from, until }) =>
      get(`/reports/funnel${csv === true ? ".csv" : ""}`, { by, bank, tpp, from, until }),
  },
  {
    words: "history",
    ids: ["SUBJECT"],
    required: [],
    optional: ["after"],
    help: "The history of a payment, consent, client, 'bank BANK', 'operator NAME'",
    plan: ([subject], { after }) => get(`/histories/${part(subject)}`, { after }),
  },
  {
    words: "people",
    ids: [],
    required: [],
    optional: ["from", "until", "operator", "deed", "after"],
    help: "What operators did, newest first: --from, --until as 2040-01-15, --deed change or read",
    plan: (_, { from, until, operator, deed, after }) =>
      get("/audit/people", { from, until, operator, deed, after }),
  },
  {
    words: "people today",
    ids: [],
    required: [],
    help: "Which operators did something today, and how much",
    plan: () => get("/audit/people/today"),
  },
  {
    words: "audit",
    ids: [],
    required: [],
    optional: ["after"],
    help: "Every entry of every history, page by page",
    plan: (_, { after }) => get("/audit", { after }),
  },
  change(
    "erase",
    "CASE",
    (id) => `/cases/${id}/erasure`,
    "Erases the personal data of a payment or a consent for ever",
  ),
];

/** The line of a command in the help. */
export function usageOf({ words, ids, required, optional = [], switches = [], help }: Command): string {
  const shown = [
    words,
    ...ids,
    ...required.map((name) => `--${name} …`),
    ...optional.map((name) => `[--${name} …]`),
    ...switches.map((name) => `[--${name}]`),
  ].join(" ");
  return `  ${shown}\n      ${help}`;
}

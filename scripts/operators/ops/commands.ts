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

/** Members of a body by the options that have them. */
const MEMBERS: Readonly<Record<string, string>> = {
  "from": "FromDateTime",
  "may-be-at-bank": "MayBeAtBank",
  "outcome": "Outcome",
  "reason": "Reason",
  "status-reason": "StatusReason",
  "text": "Text",
  "until": "UntilDateTime",
};

/** `{ORG_ID}` in a path is an id. */
const ID = /\{(\w+)\}/g;

type Options = Partial<Pick<Command, "required" | "optional" | "switches">>;

function filledPath(path: string, ids: readonly string[]): string {
  const left = [...ids];
  return path.replaceAll(ID, () => encodeURIComponent(left.shift() ?? ""));
}

/** A read. Its options are parameters of the query. `--csv` asks for the table. */
function read(words: string, path: string, help: string, options: Options = {}): Command {
  const { required = [], optional = [] } = options;
  return {
    words,
    ids: [...path.matchAll(ID)].map(([, id = ""]) => id),
    help,
    ...options,
    required,
    plan(ids, given) {
      const query = [...required, ...optional].flatMap((name) => {
        const value = given[name];
        return typeof value === "string" ? [[name, value]] : [];
      });
      const target = filledPath(path, ids) + (given["csv"] === true ? ".csv" : "");
      const asked = query.length === 0 ? target : `${target}?${new URLSearchParams(query)}`;
      return { method: "GET", path: asked };
    },
  };
}

/** A change, by default of one party for a reason. Its options are members of the body. */
function change(words: string, path: string, help: string, options: Options = {}): Command {
  const { required = ["reason"], switches = [] } = options;
  return {
    ...read(words, path, help, { ...options, required }),
    plan(ids, given) {
      const data = [...required, ...switches].flatMap((name) =>
        given[name] === undefined ? [] : [[MEMBERS[name] ?? name, given[name]]]
      );
      const body = required.length === 0 ? {} : { data: Object.fromEntries(data) };
      return { method: "POST", path: filledPath(path, ids), ...body };
    },
  };
}

const WITHOUT_REASON: Options = { required: [] };
const OUTAGE: Options = { required: ["from", "until", "text", "reason"] };
const BY_DAY: Options = { optional: ["id", "from", "until", "after"], switches: ["csv"] };
const PAGED: Options = { optional: ["after"] };

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  read("requests", "/requests", "Requests in work, by lane"),
  read("controls", "/controls", "What is blocked, held or announced"),
  change("organisation block", "/organisations/{ORG_ID}/block", "Blocks an organisation"),
  change("organisation unblock", "/organisations/{ORG_ID}/unblock", "Unblocks it"),
  change("software block", "/software/{CLIENT_ID}/block", "Blocks one software"),
  change("software unblock", "/software/{CLIENT_ID}/unblock", "Unblocks it"),
  change("software revoke-tokens", "/software/{CLIENT_ID}/revoke-tokens", "Revokes its access tokens"),
  change("bank hold", "/banks/{BANK}/hold", "Holds a bank's orders"),
  change("bank release", "/banks/{BANK}/release", "Releases them"),
  read("unsettled", "/unsettled-payments", "Payments that are not final for long, by bank"),
  change(
    "bank inquire",
    "/banks/{BANK}/inquire",
    "Asks a bank what became of its unsettled payments",
    WITHOUT_REASON,
  ),
  read("disputes", "/disputes", "Disputes that have not ended, the one that is due first before the others"),
  read("dispute show", "/disputes/{PAYMENT_ID}", "A dispute with the statements of both parties"),
  change(
    "dispute decide",
    "/disputes/{PAYMENT_ID}/decision",
    "Ends a dispute: --outcome Upheld or Rejected, of what its opener states",
    { required: ["outcome", "reason"] },
  ),
  read("bank restores", "/order-holds", "Banks that are held after a restore, until deno task reconcile"),
  change(
    "bank outage",
    "/banks/{BANK}/outages",
    "Announces an outage; times as 2040-01-15T12:00:00Z",
    OUTAGE,
  ),
  change(
    "bank change-outage",
    "/banks/{BANK}/outages/{OUTAGE_ID}/change",
    "Changes its times and text",
    OUTAGE,
  ),
  change("bank cancel-outage", "/banks/{BANK}/outages/{OUTAGE_ID}/cancel", "Cancels or ends it"),
  read("keys", "/keys", "The platform's keys on the process that answers, with the times of their rotation"),
  read(
    "banks",
    "/banks",
    "Every bank: whether it works, is slow or fails by its last pushes, and its orders",
  ),
  read("alarms", "/alarms", "What needs an operator now, by what the platform itself knows"),
  read("endings", "/endings", "Certificates and software statements that end in the next 30 days"),
  read("last-hour", "/last-hour", "Requests, payments, orders and rejections of the last hour and of today"),
  read("participants", "/participants", "Registered participants, by a part of a name or id", {
    optional: ["role", "search", "after"],
  }),
  read(
    "participant",
    "/participants/{CLIENT_ID}",
    "A participant with its addresses, keys, certificates and last use",
  ),
  read("processes", "/processes", "Every process of the platform, with its state"),
  read("proposals", "/proposals", "Changes that need two operators, and what a second one has decided"),
  change("proposal approve", "/proposals/{PROPOSAL_ID}/approve", "Approves and carries out"),
  change("proposal withdraw", "/proposals/{PROPOSAL_ID}/withdraw", "Withdraws or declines"),
  read("orders", "/payment-orders", "Orders that no bank has answered: --state waiting, held or dead", {
    required: ["state"],
    optional: ["bank", "after"],
  }),
  change("order redrive", "/payment-orders/{PAYMENT_ID}/redrive", "Tries a dead order again", WITHOUT_REASON),
  read(
    "events",
    "/event-deliveries",
    "Pushes of events by subscriber: what waits, what is dead and why",
    PAGED,
  ),
  change(
    "event redrive",
    "/event-deliveries/{CLIENT_ID}/{BANK}/redrive",
    "Pushes a subscriber's dead events again",
    WITHOUT_REASON,
  ),
  change(
    "order close",
    "/payment-orders/{PAYMENT_ID}/close",
    "Closes a dead order; --status-reason is for the TPP",
    { required: ["reason", "status-reason"], switches: ["may-be-at-bank"] },
  ),
  read(
    "search",
    "/search?q={ID}",
    "A payment by the number on an error page, its own or its consent's id, end-to-end id or idempotency key",
  ),
  read("cases", "/cases", "Payments by amount, as 49.90, and days (UTC), as 2040-01-15", {
    required: ["amount", "from"],
    optional: ["until", "currency", "bank", "tpp", "after"],
  }),
  read(
    "report banks",
    "/reports/banks",
    "Availability, answers and volumes of banks by day; days as 2040-01-15, --csv prints a table",
    BY_DAY,
  ),
  read("report tpps", "/reports/tpps", "Requests and payments of TPPs by day", BY_DAY),
  read(
    "report funnel",
    "/reports/funnel",
    "How many customers reach each step; --by day,bank,tpp,type,language",
    { optional: ["by", "bank", "tpp", "from", "until"], switches: ["csv"] },
  ),
  read(
    "history",
    "/histories/{SUBJECT}",
    "The history of a payment, consent, client, 'bank BANK', 'operator NAME'",
    PAGED,
  ),
  read(
    "people",
    "/audit/people",
    "What operators did, newest first: --from, --until as 2040-01-15, --deed change or read",
    { optional: ["from", "until", "operator", "deed", "after"] },
  ),
  read("people today", "/audit/people/today", "Which operators did something today, and how much"),
  read("audit", "/audit", "Every entry of every history, page by page", PAGED),
  change("erase", "/cases/{CASE}/erasure", "Erases the personal data of a payment or a consent for ever"),
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

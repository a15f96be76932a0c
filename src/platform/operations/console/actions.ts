/** The changes that operators make in the console. Each one is a request of the operations API with a form. */
import type { PlainKey } from "./phrase.ts";

export type FieldName = "reason" | "statusReason" | "mayBeAtBank" | "from" | "until" | "text" | "outcome";

/** How a field of a form is a member of the request. */
export interface Field {
  readonly name: FieldName;
  /** Member of `Data`. */
  readonly member: string;
  readonly kind: "lines" | "line" | "time" | "check" | "choice";
  /** Values of a choice, which the messages name. */
  readonly choices?: readonly ("Upheld" | "Rejected")[];
  /** Characters. */
  readonly least?: number;
  readonly most?: number;
}

export interface Action {
  /** The request below `/operations`, and the page below `/console`. */
  readonly path: `/${string}`;
  /** The message that names it; `<title>.effect` and `<title>.done` exist too. */
  readonly title: ActionTitle;
  readonly fields: readonly Field[];
  /** The page that shows its result. */
  readonly back: string;
}

type Titles<Key> = Key extends `${infer Title}.effect` ? Title : never;
type ActionTitle = Titles<PlainKey> & PlainKey;

const REASON: Field = { name: "reason", member: "Reason", kind: "lines", least: 10, most: 500 };
const OUTAGE: readonly Field[] = [
  { name: "from", member: "FromDateTime", kind: "time" },
  { name: "until", member: "UntilDateTime", kind: "time" },
  { name: "text", member: "Text", kind: "line", least: 3, most: 200 },
  REASON,
];
const ORDERS = "/console/orders";
const BANKS = "/console/banks";
const EVENTS = "/console/events";
const PARTICIPANTS = "/console/participants";
const PROPOSALS = "/console/proposals";

export const ACTIONS: readonly Action[] = [
  { path: "/payment-orders/{paymentId}/redrive", title: "action.redrive", fields: [], back: ORDERS },
  {
    path: "/payment-orders/{paymentId}/close",
    title: "action.close",
    fields: [
      { name: "statusReason", member: "StatusReason", kind: "line", least: 3, most: 256 },
      { name: "mayBeAtBank", member: "MayBeAtBank", kind: "check" },
      REASON,
    ],
    back: ORDERS,
  },
  {
    path: "/event-deliveries/{clientId}/{bank}/redrive",
    title: "action.redriveEvents",
    fields: [],
    back: EVENTS,
  },
  {
    path: "/disputes/{paymentId}/decision",
    title: "action.decideDispute",
    fields: [
      { name: "outcome", member: "Outcome", kind: "choice", choices: ["Upheld", "Rejected"] },
      REASON,
    ],
    back: "/console/disputes",
  },
  { path: "/banks/{id}/inquire", title: "action.inquire", fields: [], back: "/console/unsettled" },
  { path: "/banks/{id}/hold", title: "action.hold", fields: [REASON], back: BANKS },
  { path: "/banks/{id}/release", title: "action.release", fields: [REASON], back: BANKS },
  {
    path: "/banks/{id}/outages",
    title: "action.outage",
    fields: OUTAGE,
    back: BANKS,
  },
  { path: "/banks/{id}/outages/{outageId}/change", title: "action.change", fields: OUTAGE, back: BANKS },
  { path: "/banks/{id}/outages/{outageId}/cancel", title: "action.cancel", fields: [REASON], back: BANKS },
  {
    path: "/organisations/{id}/block",
    title: "action.blockOrganisation",
    fields: [REASON],
    back: PARTICIPANTS,
  },
  {
    path: "/organisations/{id}/unblock",
    title: "action.unblockOrganisation",
    fields: [REASON],
    back: PARTICIPANTS,
  },
  { path: "/software/{id}/block", title: "action.blockSoftware", fields: [REASON], back: PARTICIPANTS },
  { path: "/software/{id}/unblock", title: "action.unblockSoftware", fields: [REASON], back: PARTICIPANTS },
  { path: "/proposals/{id}/approve", title: "action.approve", fields: [REASON], back: PROPOSALS },
  { path: "/proposals/{id}/withdraw", title: "action.withdraw", fields: [REASON], back: PROPOSALS },
  { path: "/software/{id}/revoke-tokens", title: "action.revoke", fields: [REASON], back: PARTICIPANTS },
];

/** Returns the body of the request, or undefined for one without. */
export function bodyOf({ fields }: Action, form: ReadonlyMap<string, string>): object | undefined {
  if (fields.length === 0) return undefined;
  const members = fields.flatMap(({ name, member, kind }) => {
    const sent = form.get(name)?.replaceAll(/\s+/g, " ").trim();
    if (sent === undefined || sent === "") return [];
    return [[member, kind === "check" ? true : kind === "time" ? instantOf(sent) : sent]];
  });
  return { Data: Object.fromEntries(members) };
}

/** A form's time has no zone, and means UTC. */
function instantOf(text: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00Z` : text;
}

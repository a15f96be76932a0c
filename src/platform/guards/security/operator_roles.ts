/** The roles of operators, and the one table of which role may use which endpoint of the operations API and which page of the console. */
import type { CredentialKind } from "../../../base/http/credentials.ts";

/**
 * - `viewer`: reads state that has no personal data.
 * - `support`: also finds cases of customers.
 * - `operator`: also changes how orders and banks are handled.
 * - `security`: also blocks participants, revokes tokens and erases cases.
 * - `auditor`: reads everything, also who did what, and changes nothing.
 */
export const ROLES = ["viewer", "support", "operator", "security", "auditor"] as const;
export type Role = typeof ROLES[number];

/** A person of a TPP or bank, who sees only what belongs to the organisation. Never with another role. */
export const PARTICIPANT = "participant";
export type AnyRole = Role | typeof PARTICIPANT;

/** Operators with tokens of their own, in the file that `PLATFORM_OPERATORS` names. */
export const OPERATORS: CredentialKind = { list: "operators", prefix: "oper", roles: ROLES };

/** Only for endpoints that answer with what an organisation owns (`ownOperation`). */
const PARTICIPANTS: readonly AnyRole[] = [PARTICIPANT];
const OPERATES: readonly Role[] = ["operator"];
const SECURES: readonly Role[] = ["security"];
/** Those who may make one of the changes that can need two people. The endpoint asks for a role of the change itself. */
const DECIDE: readonly Role[] = ["operator", "security"];
const FIND_CASES: readonly Role[] = ["support", "auditor"];
const READ_HISTORIES: readonly Role[] = ["support", "operator", "security", "auditor"];

const API_ROLES = {
  "GET /operations/openapi.json": ROLES,
  "GET /operations/requests": ROLES,
  "GET /operations/metrics": ROLES,
  "GET /operations/payment-orders": ROLES,
  "POST /operations/payment-orders/{paymentId}/redrive": OPERATES,
  "POST /operations/payment-orders/{paymentId}/close": OPERATES,
  "GET /operations/event-deliveries": ROLES,
  "POST /operations/event-deliveries/{clientId}/{bank}/redrive": OPERATES,
  "GET /operations/order-holds": ROLES,
  "POST /operations/order-holds/{bank}/reconcile": OPERATES,
  "POST /operations/order-holds/{bank}/release": OPERATES,
  "GET /operations/log/checkpoint": ROLES,
  "GET /operations/cases": READ_HISTORIES,
  "GET /operations/cases/{id}": FIND_CASES,
  "GET /operations/cases/{id}/summary": FIND_CASES,
  "GET /operations/search": READ_HISTORIES,
  "POST /operations/cases/{id}/erasure": SECURES,
  "GET /operations/log/consistency": ROLES,
  "GET /operations/log/inclusion": ROLES,
  "GET /operations/histories/{subject}": READ_HISTORIES,
  "GET /operations/audit/people": READ_HISTORIES,
  "GET /operations/audit/people/today": READ_HISTORIES,
  "GET /operations/audit": ["auditor"],
  "GET /operations/controls": ROLES,
  "POST /operations/organisations/{id}/block": SECURES,
  "POST /operations/organisations/{id}/unblock": SECURES,
  "POST /operations/software/{id}/block": SECURES,
  "POST /operations/software/{id}/unblock": SECURES,
  "POST /operations/software/{id}/revoke-tokens": SECURES,
  "GET /operations/disputes": READ_HISTORIES,
  "GET /operations/disputes/{paymentId}": ["support", "operator", "auditor"],
  "POST /operations/disputes/{paymentId}/decision": OPERATES,
  "GET /operations/unsettled-payments": ROLES,
  "POST /operations/banks/{id}/inquire": OPERATES,
  "POST /operations/banks/{id}/hold": OPERATES,
  "POST /operations/banks/{id}/release": OPERATES,
  "POST /operations/banks/{id}/outages": OPERATES,
  "POST /operations/banks/{id}/outages/{outageId}/change": OPERATES,
  "POST /operations/banks/{id}/outages/{outageId}/cancel": OPERATES,
  "GET /operations/participants": ROLES,
  "GET /operations/participants/{clientId}": ROLES,
  "GET /operations/keys": ROLES,
  "GET /operations/processes": ROLES,
  "GET /operations/last-hour": ROLES,
  "GET /operations/endings": ROLES,
  "GET /operations/banks": ROLES,
  "GET /operations/alarms": ROLES,
  "GET /operations/proposals": READ_HISTORIES,
  "POST /operations/proposals/{id}/approve": DECIDE,
  "POST /operations/proposals/{id}/withdraw": DECIDE,
  "GET /operations/reports/banks": ROLES,
  "GET /operations/reports/banks.csv": ROLES,
  "GET /operations/reports/tpps": ROLES,
  "GET /operations/reports/tpps.csv": ROLES,
  "GET /operations/reports/funnel": ROLES,
  "GET /operations/reports/funnel.csv": ROLES,
  "GET /operations/own/registrations": PARTICIPANTS,
  "GET /operations/own/search": PARTICIPANTS,
  "GET /operations/own/cases": PARTICIPANTS,
  "GET /operations/own/rejected-requests": PARTICIPANTS,
  "GET /operations/own/consents": PARTICIPANTS,
  "GET /operations/own/payments": PARTICIPANTS,
  "GET /operations/own/payment-orders": PARTICIPANTS,
  "GET /operations/own/disputes": PARTICIPANTS,
  "GET /operations/own/event-deliveries": PARTICIPANTS,
  "GET /operations/own/reports": PARTICIPANTS,
  "GET /operations/own/funnel": PARTICIPANTS,
} as const satisfies Readonly<Record<string, readonly AnyRole[]>>;

/** The console's pages that read. What a page shows, it reads from the API as the operator. */
const PAGE_ROLES: Readonly<Record<string, readonly AnyRole[]>> = {
  "GET /console/own": PARTICIPANTS,
  "GET /console": ROLES,
  "GET /console/orders": ROLES,
  "GET /console/unsettled": ROLES,
  "GET /console/disputes": READ_HISTORIES,
  "GET /console/events": ROLES,
  "GET /console/banks": ROLES,
  "GET /console/participants": ROLES,
  "GET /console/participants/{id}": ROLES,
  "GET /console/reports": ROLES,
  "GET /console/reports/banks.csv": ROLES,
  "GET /console/reports/banks.json": ROLES,
  "GET /console/reports/tpps.csv": ROLES,
  "GET /console/reports/tpps.json": ROLES,
  "GET /console/reports/funnel": ROLES,
  "GET /console/reports/funnel.csv": ROLES,
  "GET /console/reports/funnel.json": ROLES,
  "GET /console/keys": ROLES,
  "GET /console/design": ROLES,
  "GET /console/proposals": READ_HISTORIES,
  "GET /console/audit": READ_HISTORIES,
  "GET /console/search": READ_HISTORIES,
  "GET /console/cases/{id}": FIND_CASES,
  "GET /console/cases/{id}/bundle": FIND_CASES,
  "GET /console/cases/{id}/evidence/{entry}/{item}": FIND_CASES,
  "GET /console/orders/selected": OPERATES,
  "POST /console/orders/selected": OPERATES,
  "POST /console/sign-out": [...ROLES, PARTICIPANT],
};

/** Changes of the API that have a form in the console. Page and form have the roles of the change. */
const FORMS: readonly (keyof typeof API_ROLES)[] = [
  "POST /operations/payment-orders/{paymentId}/redrive",
  "POST /operations/payment-orders/{paymentId}/close",
  "POST /operations/event-deliveries/{clientId}/{bank}/redrive",
  "POST /operations/organisations/{id}/block",
  "POST /operations/organisations/{id}/unblock",
  "POST /operations/software/{id}/block",
  "POST /operations/software/{id}/unblock",
  "POST /operations/software/{id}/revoke-tokens",
  "POST /operations/disputes/{paymentId}/decision",
  "POST /operations/banks/{id}/inquire",
  "POST /operations/banks/{id}/hold",
  "POST /operations/banks/{id}/release",
  "POST /operations/banks/{id}/outages",
  "POST /operations/banks/{id}/outages/{outageId}/change",
  "POST /operations/banks/{id}/outages/{outageId}/cancel",
  "POST /operations/proposals/{id}/approve",
  "POST /operations/proposals/{id}/withdraw",
];

/** By method and path. An endpoint or page without a row does not start. */
export const OPERATION_ROLES: Readonly<Record<string, readonly AnyRole[]>> = {
  ...API_ROLES,
  ...PAGE_ROLES,
  ...Object.fromEntries(FORMS.flatMap((name) => {
    const path = name.replace("POST /operations", "/console");
    return [[`GET ${path}`, API_ROLES[name]], [`POST ${path}`, API_ROLES[name]]];
  })),
};

/** Reads of cases and of what people did. Each one is recorded in the operator's own history. */
export const AUDITED_READS: ReadonlySet<string> = new Set([
  "GET /operations/histories/{subject}",
  "GET /operations/audit",
  "GET /operations/audit/people",
  "GET /operations/cases/{id}",
  "GET /operations/cases/{id}/summary",
]);

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/**
 * `GET /operations/own/…` (contract OWN1 to OWN3): what belongs to the organisation of a participant who is signed in.
 * An id of another organisation finds the same as one that does not exist: nothing.
 */
import { z } from "@hono/zod-openapi";
import { eventDeliverySchema } from "../../events/operations_routes.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { operationAnswer, operationRoute } from "../../guards/http/operation_answers.ts";
import { caseSchema, representCase } from "../search/routes.ts";
import { MAX_SEARCH_CHARACTERS, namesIn } from "../search/search.ts";
import { ownOperation } from "../../guards/security/operation.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import { funnelRowSchema } from "../funnel/funnel_representation.ts";
import { funnelQuery } from "../funnel/funnel_routes.ts";
import { reportSchema } from "../reports/report_representation.ts";
import { representTrace, traceSchema } from "../traces/trace_representation.ts";
import { REJECTED } from "../traces/trace_store.ts";
import { DISPUTES_SHOWN, ownDisputes } from "./own_disputes.ts";
import { ownConsents, ownPayments, readOwnAsked } from "./own_lists.ts";
import {
  MAX_ORDERS_READ,
  ownCase,
  ownEventDeliveries,
  ownFunnel,
  type OwnReadDeps,
  ownReports,
  ownSearch,
  ownStoppedOrders,
  type OwnTrace,
  ownTraces,
  registrationsOf,
} from "./own_reads.ts";
import {
  ownCaseSchema,
  ownConsentSchema,
  ownDisputeSchema,
  ownOrderSchema,
  ownPaymentSchema,
  ownRegistrationSchema,
} from "./own_representation.ts";
import { invalidRequest } from "../../guards/security/operation_body.ts";

const after = z.string().max(128).optional();

function routeOf<P extends string>(
  path: P,
  operationId: string,
  words: { readonly summary: string; readonly description: string },
  lists: Readonly<Record<string, z.ZodType>>,
  query: z.ZodObject = z.object({}),
): ReturnType<typeof operationRoute<P>> {
  const members = Object.entries(lists).map(([name, item]) => [name, z.array(item)] as const);
  const data = z.strictObject({
    ...Object.fromEntries(members),
    After: z.string().optional(),
    IsComplete: z.boolean().optional(),
  });
  return operationRoute({
    method: "get",
    path,
    operationId,
    ...words,
    tags: ["Own"],
    request: { query },
    answers: {
      200: operationAnswer("What belongs to the organisation", z.strictObject({ Data: data })),
    },
  });
}

const registrationsRoute = routeOf("/operations/own/registrations", "listOwnRegistrations", {
  summary: "The organisation's registered software",
  description: "With its state in the directory and here, and the platform's copy of its keys.",
}, { Registration: ownRegistrationSchema });
const searchRoute = routeOf(
  "/operations/own/search",
  "searchOwn",
  {
    summary: "Find an own payment or request by any id",
    description: "Like the operators' search, among what the organisation owns.",
  },
  { Case: caseSchema, Trace: traceSchema },
  z.object({ q: z.string().max(MAX_SEARCH_CHARACTERS) }),
);
const caseRoute = routeOf(
  "/operations/own/cases",
  "findOwnCase",
  {
    summary: "What an own payment is and where it stands",
    description: "`id` is a consent's or a payment's. Empty if the organisation has no such case.",
  },
  { Case: ownCaseSchema },
  z.object({ id: z.uuid() }),
);
const rejectedRoute = routeOf("/operations/own/rejected-requests", "listOwnRejectedRequests", {
  summary: "The newest rejected requests of the organisation's software",
  description: "Each as its trace.",
}, { Trace: traceSchema });
const span = z.object({ from: z.iso.date().optional(), until: z.iso.date().optional() });
const SPAN_WORDS =
  "Created on these days (UTC), by default the last seven. Go on with `after` from the `After` of a page.";
const consentsRoute = routeOf(
  "/operations/own/consents",
  "listOwnConsents",
  {
    summary: "The consents of the organisation's software, or at its bank",
    description: `In the order of banks, software and times. ${SPAN_WORDS}`,
  },
  { Consent: ownConsentSchema },
  span.extend({ after }),
);
const paymentsRoute = routeOf(
  "/operations/own/payments",
  "listOwnPayments",
  {
    summary: "The payments of the organisation's software, or at its bank",
    description: `At a bank oldest first, of a TPP in the order of banks, software and times. ${SPAN_WORDS}`,
  },
  { Payment: ownPaymentSchema },
  span.extend({ after }),
);
const ordersRoute = routeOf(
  "/operations/own/payment-orders",
  "listOwnStoppedOrders",
  {
    summary: "Own orders that were given up or are held",
    description:
      `At most 100, among the first ${MAX_ORDERS_READ} of the platform. \`IsComplete\` is false if there may be others.`,
  },
  { PaymentOrder: ownOrderSchema },
  z.object({ state: z.enum(["dead", "held"]) }),
);
const disputesRoute = routeOf("/operations/own/disputes", "listOwnDisputes", {
  summary: "The organisation's disputes, and what it can do next",
  description: `At most ${DISPUTES_SHOWN}: first those that have not ended, by the time of the next step.`,
}, { Dispute: ownDisputeSchema });
const deliveriesRoute = routeOf("/operations/own/event-deliveries", "listOwnEventDeliveries", {
  summary: "How the pushes of events to the organisation's software stand",
  description: "One entry for each bank at which it subscribes to pushes.",
}, { EventDelivery: eventDeliverySchema });
const reportsRoute = routeOf(
  "/operations/own/reports",
  "reportOwn",
  {
    summary: "Availability, answers and volumes of the organisation by day",
    description: "A bank's report, or one for each software of a TPP.",
  },
  { Report: reportSchema },
  span,
);
const funnelRoute = routeOf(
  "/operations/own/funnel",
  "funnelOwn",
  {
    summary: "How many of the organisation's consents reach each step of a payment",
    description:
      "Of a TPP's software at every bank, or of all TPPs at a bank, by the day (UTC) of the consent. By default by day.",
  },
  { Row: funnelRowSchema },
  funnelQuery,
);

export function ownRoutes(deps: OwnReadDeps): readonly PlatformEndpoint[] {
  return [
    ownOperation(registrationsRoute, async (_query, organisation) => {
      return { lists: { Registration: await registrationsOf(deps, organisation) } };
    }),
    searchEndpoint(deps),
    ownOperation(caseRoute, async ({ id = "" }, organisation) => {
      return { lists: { Case: await ownCase(deps, organisation, id) } };
    }),
    ownOperation(rejectedRoute, async (_query, organisation) => {
      const traces = await ownTraces(deps, organisation, REJECTED);
      return { lists: { Trace: selectOwned(deps, organisation, traces) } };
    }),
    ownOperation(consentsRoute, async (query, organisation) => {
      const { found, next } = await ownConsents(deps, organisation, readOwnAsked(query, deps.clock()));
      return { lists: { Consent: found }, after: next };
    }),
    ownOperation(paymentsRoute, async (query, organisation) => {
      const { found, next } = await ownPayments(deps, organisation, readOwnAsked(query, deps.clock()));
      return { lists: { Payment: found }, after: next };
    }),
    ownOperation(ordersRoute, async ({ state }, organisation) => {
      if (state !== "dead" && state !== "held") throw invalidRequest("state must be dead or held");
      const { found, isComplete } = await ownStoppedOrders(deps, organisation, state);
      return { lists: { PaymentOrder: found }, isComplete };
    }),
    ownOperation(disputesRoute, async (_query, organisation) => {
      return { lists: { Dispute: await ownDisputes(deps, organisation) } };
    }),
    ownOperation(deliveriesRoute, async (_query, organisation) => {
      return { lists: { EventDelivery: await ownEventDeliveries(deps, organisation) } };
    }),
    ownOperation(reportsRoute, async (query, organisation) => {
      return { lists: { Report: await ownReports(deps, organisation, query) } };
    }),
    ownOperation(funnelRoute, async (query, organisation) => {
      return { lists: { Row: await ownFunnel(deps, organisation, query) } };
    }),
  ];
}

function searchEndpoint(deps: OwnReadDeps): PlatformEndpoint {
  return ownOperation(searchRoute, async ({ q = "" }, organisation) => {
    if (q.trim() === "" || q.length > MAX_SEARCH_CHARACTERS) {
      throw invalidRequest(`q must have at most ${MAX_SEARCH_CHARACTERS} characters`);
    }
    const { cases, traces, isComplete } = await ownSearch(deps, organisation, q);
    const names = await namesIn(deps, cases);
    return {
      isComplete,
      lists: {
        Case: cases.flatMap((one) => organisation.recognise(representCase(one, names), one) ?? []),
        Trace: selectOwned(deps, organisation, traces),
      },
    };
  });
}

function selectOwned(
  { errorUri }: OwnReadDeps,
  organisation: Organisation,
  traces: readonly OwnTrace[],
): readonly Owned[] {
  return traces.flatMap(({ reader, trace }) =>
    organisation.recognise(representTrace(trace, errorUri), { clientId: reader }) ?? []
  );
}
